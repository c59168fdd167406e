/** The command line flags that set configuration keys. The key's own type and description hold for the flag too. */

export interface ConfigFlag {
  /** As typed, e.g. `--log-level`. */
  readonly flag: string;
  /** As the command line parser names its value, e.g. `logLevel`. */
  readonly property: string;
  readonly placeholder: string;
  readonly key: string;
  readonly description: string;
}

export const configFlags: readonly ConfigFlag[] = [
  {
    flag: '--upstream',
    property: 'upstream',
    placeholder: '<url>',
    key: 'upstream.url',
    description: 'the inference server: http://…, https://… or unix:/path.sock',
  },
  {
    flag: '--engine',
    property: 'engine',
    placeholder: '<kind>',
    key: 'engine.kind',
    description: 'which engine it is; "auto" asks it',
  },
  {
    flag: '--listen',
    property: 'listen',
    placeholder: '<host:port>',
    key: 'listen',
    description: 'where clients connect',
  },
  {
    flag: '--admin',
    property: 'admin',
    placeholder: '<host:port>',
    key: 'admin.listen',
    description: 'where metrics, health and the inspector are served',
  },
  {
    flag: '--mode',
    property: 'mode',
    placeholder: '<mode>',
    key: 'mode',
    description: '"observe" or "strict"',
  },
  {
    flag: '--log-level',
    property: 'logLevel',
    placeholder: '<level>',
    key: 'log.level',
    description: 'least severe log lines to write',
  },
];
