// The examples under deploy/ against the configuration, the admin port and the image: names, ports, paths, time-outs.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { parseListenAddress } from '../../src/config/addresses.ts';
import { unknownVariables } from '../../src/config/environment-layer.ts';
import { findKey } from '../../src/config/keys.ts';
import { loadConfig, type Config } from '../../src/config/load.ts';
import { listening } from '../admin/admin-under-test.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const version = z.object({ version: z.string() }).parse(JSON.parse(read('package.json'))).version;
const image = `tokenweir:${version}`;
/** As the image sets it. */
const imageEnvironment = { TOKENWEIR_LISTEN: '0.0.0.0:9930', TOKENWEIR_ADMIN_LISTEN: '0.0.0.0:9939' };
const proxyPort = defaultPort('listen');
const adminPort = defaultPort('admin.listen');

function defaultPort(key: string): number {
  const address = parseListenAddress(String(findKey(key)?.defaultValue));
  assert.ok(address, key);
  return address.port;
}

/** Loads the environment as `serve` would in the image; fails on mistakes and on variables that set nothing. */
function configFrom(environment: Readonly<Record<string, string>>): Config {
  assert.deepEqual(unknownVariables(environment), []);
  const result = loadConfig({
    flags: {},
    env: { ...imageEnvironment, ...environment },
    cwd: join(root, 'deploy'),
  });
  assert.equal(result.kind, 'loaded', JSON.stringify(result));
  return result.config;
}

/** What a shell would leave of `${NAME:-default}` and `${NAME:?message}` where nothing is set. */
function substituted(text: string): string {
  return text.replaceAll(/\$\{\w+:([-?])([^}]*)\}/g, (_, kind, rest: string) =>
    kind === '-' ? rest : 'given',
  );
}

const composeSchema = z.object({
  services: z.object({
    'llama-server': z.object({ command: z.array(z.string()), ports: z.undefined().optional() }),
    tokenweir: z.object({
      build: z.literal('..'),
      image: z.literal(image),
      environment: z.record(z.string(), z.string()),
      ports: z.array(z.string()),
      read_only: z.literal(true),
      stop_grace_period: z.string().regex(/^\d+s$/),
    }),
    prometheus: z.object({ volumes: z.array(z.string()) }),
  }),
});

const prometheusSchema = z.object({
  scrape_configs: z.tuple([
    z.object({
      job_name: z.string(),
      metrics_path: z.string(),
      static_configs: z.tuple([z.object({ targets: z.tuple([z.string()]) })]),
    }),
  ]),
});

describe('deploy/compose.yaml', () => {
  const { services } = composeSchema.parse(parse(substituted(read('deploy/compose.yaml'))));
  const config = configFrom(services.tokenweir.environment);

  it('puts tokenweir in front of the llama-server that it starts, which is not reachable past it', () => {
    const { command } = services['llama-server'];
    const port = command[command.indexOf('--port') + 1];
    assert.equal(config.upstream.url, `http://llama-server:${port}`);
    assert.equal(services['llama-server'].ports, undefined);
  });

  it('publishes the ports that the image listens on, to this machine only', () => {
    assert.deepEqual(
      services.tokenweir.ports,
      [proxyPort, adminPort].map((port) => `127.0.0.1:${port}:${port}`),
    );
  });

  it('waits longer for the end than replies under way may take', () => {
    assert.ok(Number.parseInt(services.tokenweir.stop_grace_period) > config.drain.timeoutSeconds);
  });

  it('mounts a scrape configuration that reaches the admin port under a name that it accepts', async (t) => {
    const [mount = ''] = services.prometheus.volumes;
    const file = join('deploy', mount.split(':')[0] ?? '');
    const [scrape] = prometheusSchema.parse(parse(read(file))).scrape_configs;
    const [target] = scrape.static_configs[0].targets;
    assert.equal(target, `tokenweir:${adminPort}`);
    const ask = await listening(t, {
      access: { listenHost: '0.0.0.0' },
      allowedHosts: config.admin.allowedHosts,
    });
    const answer = await ask(scrape.metrics_path, { host: target });
    assert.equal(answer.status, 200);
    assert.match(answer.text, /^# HELP tokenweir_/m);
  });
});

const probeSchema = z.object({ httpGet: z.object({ path: z.string(), port: z.literal('admin') }) });
const environmentSchema = z.array(z.object({ name: z.string(), value: z.string().optional() }));
const deploymentSchema = z.object({
  spec: z.object({
    template: z.object({
      metadata: z.object({ annotations: z.record(z.string(), z.string()) }),
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        initContainers: z.tuple([
          z.object({
            image: z.literal(image),
            restartPolicy: z.literal('Always'),
            args: z.tuple([z.literal('serve')]),
            env: environmentSchema,
            ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
            startupProbe: probeSchema,
            livenessProbe: probeSchema,
            readinessProbe: probeSchema,
            securityContext: z.object({
              runAsNonRoot: z.literal(true),
              readOnlyRootFilesystem: z.literal(true),
              allowPrivilegeEscalation: z.literal(false),
            }),
          }),
        ]),
        containers: z.tuple([
          z.object({
            args: z.array(z.string()),
            lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) }),
          }),
        ]),
      }),
    }),
  }),
});
const serviceSchema = z.object({
  spec: z.object({ ports: z.tuple([z.object({ targetPort: z.literal('http') })]) }),
});

describe('deploy/kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as unknown;
  });
  const { template } = deploymentSchema.parse(documents[0]).spec;
  const [sidecar] = template.spec.initContainers;
  const [engine] = template.spec.containers;
  const config = configFrom(
    Object.fromEntries(sidecar.env.map(({ name, value }) => [name, value ?? 'from-a-secret'])),
  );

  it('asks the process whether it lives and the engine whether traffic may come', async (t) => {
    assert.equal(sidecar.livenessProbe.httpGet.path, '/healthz');
    assert.equal(sidecar.readinessProbe.httpGet.path, '/readyz');
    const ask = await listening(t, {
      access: { listenHost: '0.0.0.0' },
      ready: () => ({ ready: false, reason: 'the engine does not answer' }),
    });
    // The kubelet asks by the pod's address.
    const headers = { host: `10.1.2.3:${adminPort}` };
    assert.equal((await ask(sidecar.livenessProbe.httpGet.path, headers)).status, 200);
    assert.equal((await ask(sidecar.readinessProbe.httpGet.path, headers)).status, 503);
  });

  it('does not make the start of the sidecar wait for the engine, which starts after it', () => {
    assert.equal(sidecar.startupProbe.httpGet.path, sidecar.livenessProbe.httpGet.path);
  });

  it('names the ports that the image listens on, and serves the right one', () => {
    const ports = Object.fromEntries(sidecar.ports.map(({ name, containerPort }) => [name, containerPort]));
    assert.deepEqual(ports, { http: proxyPort, admin: adminPort });
    assert.equal(template.metadata.annotations['prometheus.io/port'], String(adminPort));
    serviceSchema.parse(documents[1]);
  });

  it('reaches the engine on loopback, where the engine listens', () => {
    const argument = (name: string): string | undefined => engine.args[engine.args.indexOf(name) + 1];
    assert.equal(config.upstream.url, `http://${argument('--host')}:${argument('--port')}`);
  });

  it('leaves time for the sleep that drains and for what the proxy may take after it', () => {
    const sleep = engine.lifecycle.preStop.sleep.seconds;
    assert.ok(template.spec.terminationGracePeriodSeconds > sleep + config.drain.timeoutSeconds);
  });
});

describe('deploy/tokenweir.service', () => {
  const settings = new Map(
    read('deploy/tokenweir.service')
      .split('\n')
      .filter((line) => /^[A-Z]\w+=/.test(line))
      .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

  it('starts serve, reloads by SIGHUP and drains before it is killed', () => {
    assert.match(
      settings.get('ExecStart') ?? '',
      /\/tokenweir serve --config \/etc\/tokenweir\/proxy\.yaml$/,
    );
    assert.match(settings.get('ExecReload') ?? '', /^\/bin\/kill -HUP \$MAINPID$/);
    assert.equal(settings.get('KillSignal'), 'SIGTERM');
    assert.ok(Number(settings.get('TimeoutStopSec')) > configFrom({}).drain.timeoutSeconds);
  });

  it('does not start again what can only fail again', () => {
    assert.equal(settings.get('RestartPreventExitStatus'), '2');
  });

  it('runs with no user, no new privileges and a file system that it cannot write', () => {
    for (const [name, value] of [
      ['DynamicUser', 'yes'],
      ['NoNewPrivileges', 'yes'],
      ['ProtectSystem', 'strict'],
      ['CapabilityBoundingSet', ''],
    ] as const) {
      assert.equal(settings.get(name), value, name);
    }
    assert.equal(settings.has('MemoryDenyWriteExecute'), false, 'compiled JavaScript needs such memory');
  });
});

describe('every example under deploy/', () => {
  it('uses only variables that the configuration has', () => {
    for (const entry of readdirSync(join(root, 'deploy'), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
      const named = [...text.matchAll(/TOKENWEIR_[A-Z_]+/g)].map(([name]) => [name, 'x']);
      assert.deepEqual(unknownVariables(Object.fromEntries(named) as Record<string, string>), [], entry.name);
    }
  });
});
