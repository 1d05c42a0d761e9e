// From the environment and the flags to a frozen Config. Pure: every fault is found and told at once.
import { parseDuration } from '../hooks/model/timeouts.ts';

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
  /** The namespaces whose Transactions are served, where the engine may look into no others; none for all of them. */
  readonly namespaces: readonly string[];
  readonly logLevel: LogLevel;
  /** Longest request body in bytes. A Transaction of 1.5 MiB may grow to several times that as escaped JSON. */
  readonly bodyLimit: number;
  /** ms after which a call begins with no further target; 0: each call deals with one. */
  readonly callBudget: number;
  /** ms for which a look at a Transaction and its Leases counts within a call. */
  readonly lookAge: number;
  /**
   * A folder, in a Pod a mounted Secret, with the tokens of which callers must send one: the file `current`, and `previous` while
   * one takes the place of another. Absent with --insecure: anybody may call.
   */
  readonly tokenDirectory?: string;
  /** Absent: plain HTTP. */
  readonly tls?: TlsPaths;
}

/** Paths of PEM files. */
export interface TlsPaths {
  readonly certificate: string;
  readonly key: string;
  /** With it, callers must show a certificate that this authority has signed. */
  readonly clientAuthority?: string;
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

const path = matching('', 'a path', /^\P{Cc}+$/u);
const namespace = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const rules = {
  PORT: integer(8080, 0, 65_535),
  HOST: matching('0.0.0.0', 'an address or a host name', /^[A-Za-z0-9.:_-]+$/),
  JANUS_NAMESPACE: matching('janus-system', 'the name of a namespace', namespace),
  JANUS_NAMESPACES: namespaces(),
  LOG_LEVEL: level('info'),
  JANUS_BODY_LIMIT: integer(8 * mebibyte, mebibyte, 256 * mebibyte),
  JANUS_CALL_BUDGET: duration('5s', '10s'),
  JANUS_LOOK_AGE: duration('1s', '5s'),
  JANUS_TOKEN_DIRECTORY: path,
  JANUS_TLS_CERTIFICATE: path,
  JANUS_TLS_KEY: path,
  JANUS_TLS_CLIENT_AUTHORITY: path,
} satisfies Record<string, Rule<unknown>>;

type Read = <Value>(name: string, rule: Rule<Value>) => Value;

export function readConfig(environment: Environment, flags: readonly string[] = []): ConfigResult {
  const faults: string[] = [];
  const read: Read = (name, rule) => {
    const text = environment[name] ?? '';
    const value = text === '' ? rule.fallback : rule.parse(text);
    if (value === undefined) faults.push(`${name}: expected ${rule.expected}, found ${JSON.stringify(text)}`);
    return value ?? rule.fallback;
  };
  const config: Config = {
    port: read('PORT', rules.PORT),
    host: read('HOST', rules.HOST),
    ...present({ kubeconfig: environment.KUBECONFIG ?? '' }),
    engineNamespace: read('JANUS_NAMESPACE', rules.JANUS_NAMESPACE),
    namespaces: read('JANUS_NAMESPACES', rules.JANUS_NAMESPACES),
    logLevel: read('LOG_LEVEL', rules.LOG_LEVEL),
    bodyLimit: read('JANUS_BODY_LIMIT', rules.JANUS_BODY_LIMIT),
    callBudget: read('JANUS_CALL_BUDGET', rules.JANUS_CALL_BUDGET),
    lookAge: read('JANUS_LOOK_AGE', rules.JANUS_LOOK_AGE),
    ...present({ tokenDirectory: read('JANUS_TOKEN_DIRECTORY', rules.JANUS_TOKEN_DIRECTORY) }),
    ...tlsOf(read),
  };
  faults.push(...clusterFaults(environment), ...callerFaults(environment, flags), ...tlsFaults(environment));
  return faults.length === 0 ? { kind: 'ok', config: Object.freeze(config) } : { kind: 'faults', faults };
}

function clusterFaults(environment: Environment): readonly string[] {
  if ((environment.KUBECONFIG ?? '') !== '' || (environment.KUBERNETES_SERVICE_HOST ?? '') !== '') return [];
  return [
    'KUBECONFIG: expected the path of a kubeconfig file, found nothing, and this is not a Pod (no KUBERNETES_SERVICE_HOST)',
  ];
}

const insecure = '--insecure';

function callerFaults({ JANUS_TOKEN_DIRECTORY = '' }: Environment, flags: readonly string[]): readonly string[] {
  const unknown = flags.filter((flag) => flag !== insecure).map((flag) => `${flag}: expected no flag but ${insecure}`);
  if (JANUS_TOKEN_DIRECTORY === '' && !flags.includes(insecure))
    return [
      ...unknown,
      `JANUS_TOKEN_DIRECTORY: expected the folder of the token that callers must send, found nothing; docs/access.md says how to make one, and the flag ${insecure} lets anybody call`,
    ];
  if (JANUS_TOKEN_DIRECTORY !== '' && flags.includes(insecure))
    return [
      ...unknown,
      `JANUS_TOKEN_DIRECTORY: expected nothing beside ${insecure}, found ${JSON.stringify(JANUS_TOKEN_DIRECTORY)}`,
    ];
  return unknown;
}

function tlsOf(read: Read): Pick<Config, 'tls'> {
  const certificate = read('JANUS_TLS_CERTIFICATE', rules.JANUS_TLS_CERTIFICATE);
  const key = read('JANUS_TLS_KEY', rules.JANUS_TLS_KEY);
  const clientAuthority = read('JANUS_TLS_CLIENT_AUTHORITY', rules.JANUS_TLS_CLIENT_AUTHORITY);
  return certificate === '' ? {} : { tls: { certificate, key, ...present({ clientAuthority }) } };
}

function tlsFaults(environment: Environment): readonly string[] {
  const needed = ['JANUS_TLS_CERTIFICATE', 'JANUS_TLS_KEY'];
  const missing = needed.filter((name) => (environment[name] ?? '') === '');
  if (missing.length === needed.length && (environment.JANUS_TLS_CLIENT_AUTHORITY ?? '') === '') return [];
  return missing.map((name) => `${name}: expected the path of a PEM file, as TLS is asked for, found nothing`);
}

/** Without the values that are empty. */
function present<Values extends Readonly<Record<string, string>>>(values: Values): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) as Partial<Values>;
}

function integer(fallback: number, least: number, most: number): Rule<number> {
  return {
    fallback,
    expected: `an integer from ${least} to ${most}`,
    parse: (text) => (/^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
  };
}

/** A Go duration from 0 to `most`, in ms. */
function duration(fallback: string, most: string): Rule<number> {
  const longest = parseDuration(most) ?? 0;
  return {
    fallback: parseDuration(fallback) ?? 0,
    expected: `a duration from 0s to ${most}`,
    parse: (text) => {
      const parsed = text === '0' ? 0 : parseDuration(text);
      return parsed !== undefined && parsed <= longest ? parsed : undefined;
    },
  };
}

function matching(fallback: string, expected: string, pattern: RegExp): Rule<string> {
  return { fallback, expected, parse: (text) => (pattern.test(text) ? text : undefined) };
}

function namespaces(): Rule<readonly string[]> {
  return {
    fallback: [],
    expected: 'names of namespaces with commas between them',
    parse: (text) => {
      const names = text.split(',').map((name) => name.trim());
      return names.every((name) => namespace.test(name)) ? [...new Set(names)] : undefined;
    },
  };
}

function level(fallback: LogLevel): Rule<LogLevel> {
  return {
    fallback,
    expected: `one of ${logLevels.join(', ')}`,
    parse: (text) => logLevels.find((candidate) => candidate === text),
  };
}
