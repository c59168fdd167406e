// Values that contradict each other, and near ones that do not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conflictsIn } from '../../src/config/conflicts.ts';
import { configSchema } from '../../src/config/schema.ts';

function conflictingKeys(input: unknown): readonly string[] {
  return conflictsIn(configSchema.parse(input), new Map()).map(({ key }) => key);
}

describe('listeners', () => {
  const table = [
    { listen: '127.0.0.1:9000', admin: '127.0.0.1:9000', conflict: true },
    { listen: '[::]:9000', admin: '127.0.0.1:9000', conflict: true },
    { listen: '10.0.0.1:9000', admin: '127.0.0.1:9000', conflict: false },
    { listen: '127.0.0.1:9000', admin: '127.0.0.1:9001', conflict: false },
    { listen: '127.0.0.1:0', admin: '127.0.0.1:0', conflict: false },
  ];
  for (const { listen, admin, conflict } of table) {
    it(`${listen} and ${admin} ${conflict ? 'collide' : 'live together'}`, () => {
      const expected = conflict ? ['admin.listen'] : [];
      assert.deepEqual(conflictingKeys({ listen, admin: { listen: admin } }), expected);
    });
  }
});

describe('an upstream that is the proxy itself', () => {
  const table = [
    { url: 'http://127.0.0.1:9000', listen: '127.0.0.1:9000', circle: true },
    { url: 'http://[::1]:9000/base', listen: '[::]:9000', circle: true },
    { url: 'http://localhost', listen: '0.0.0.0:80', circle: true },
    { url: 'https://gpu.internal', listen: 'gpu.internal:443', circle: true },
    { url: 'http://localhost:8080', listen: '0.0.0.0:9000', circle: false },
    { url: 'http://gpu.internal:9000', listen: '0.0.0.0:9000', circle: false },
    { url: 'unix:/run/a.sock', listen: '127.0.0.1:80', circle: false },
  ];
  for (const { url, listen, circle } of table) {
    it(`${circle ? 'is found' : 'is not suspected'}: ${url} behind ${listen}`, () => {
      assert.deepEqual(conflictingKeys({ listen, upstream: { url } }), circle ? ['upstream.url'] : []);
    });
  }
});

describe('exemptions', () => {
  it('may only name clients that are defined', () => {
    const clients = { web: { header: { name: 'x-team' } } };
    assert.deepEqual(conflictingKeys({ clients, inspection: { exempt: [{ client: 'web' }] } }), []);
    for (const client of ['webb', 'toString']) {
      assert.deepEqual(conflictingKeys({ clients, inspection: { exempt: [{ client }] } }), [
        'inspection.exempt',
      ]);
    }
  });
});
