// From the environment to a frozen Config. Pure: every fault is found and told at once.

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export type LogLevel = (typeof logLevels)[number];

export interface Config {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host: string;
  /** Paths as kubectl takes them; absent inside a Pod, where the ServiceAccount's own files are used. */
  readonly kubeconfig?: string;
  /** Where Leases and the sealing key live: the same for every hook of a cluster. */
  readonly engineNamespace: string;
  readonly logLevel: LogLevel;
  /** Longest request body in bytes. A Transaction of 1.5 MiB may grow to several times that as escaped JSON. */
  readonly bodyLimit: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export type ConfigResult =
  | { readonly kind: 'ok'; readonly config: Config }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

/** What a variable must be, and how its text becomes a value; undefined when it is not that. */
interface Rule<Value> {
  readonly fallback: Value;
  readonly expected: string;
  readonly parse: (text: string) => Value | undefined;
}

const mebibyte = 1024 * 1024;

const rules = {
  PORT: integer(8080, 0, 65_535),
  HOST: matching('0.0.0.0', 'an address or a host name', /^[A-Za-z0-9.:_-]+$/),
  JANUS_NAMESPACE: matching('janus-system', 'the name of a namespace', /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/),
  LOG_LEVEL: level('info'),
  JANUS_BODY_LIMIT: integer(8 * mebibyte, mebibyte, 256 * mebibyte),
} satisfies Record<string, Rule<unknown>>;

export function readConfig(environment: Environment): ConfigResult {
  const faults: string[] = [];
  const read = <Value>(name: string, rule: Rule<Value>): Value => {
    const text = environment[name] ?? '';
    const value = text === '' ? rule.fallback : rule.parse(text);
    if (value === undefined) faults.push(`${name}: expected ${rule.expected}, found ${JSON.stringify(text)}`);
    return value ?? rule.fallback;
  };
  const kubeconfig = environment.KUBECONFIG ?? '';
  const config: Config = {
    port: read('PORT', rules.PORT),
    host: read('HOST', rules.HOST),
    ...(kubeconfig === '' ? {} : { kubeconfig }),
    engineNamespace: read('JANUS_NAMESPACE', rules.JANUS_NAMESPACE),
    logLevel: read('LOG_LEVEL', rules.LOG_LEVEL),
    bodyLimit: read('JANUS_BODY_LIMIT', rules.JANUS_BODY_LIMIT),
  };
  faults.push(...accessFaults(environment));
  return faults.length === 0 ? { kind: 'ok', config: Object.freeze(config) } : { kind: 'faults', faults };
}

function accessFaults(environment: Environment): readonly string[] {
  if ((environment.KUBECONFIG ?? '') !== '' || (environment.KUBERNETES_SERVICE_HOST ?? '') !== '') return [];
  return [
    'KUBECONFIG: expected the path of a kubeconfig file, found nothing, and this is not a Pod (no KUBERNETES_SERVICE_HOST)',
  ];
}

function integer(fallback: number, least: number, most: number): Rule<number> {
  return {
    fallback,
    expected: `an integer from ${least} to ${most}`,
    parse: (text) => (/^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
  };
}

function matching(fallback: string, expected: string, pattern: RegExp): Rule<string> {
  return { fallback, expected, parse: (text) => (pattern.test(text) ? text : undefined) };
}

function level(fallback: LogLevel): Rule<LogLevel> {
  return {
    fallback,
    expected: `one of ${logLevels.join(', ')}`,
    parse: (text) => logLevels.find((candidate) => candidate === text),
  };
}
