// Reads the environment and the flags into a frozen Config, and reports all faults at once. Pure.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KeySelector, readKeySelector } from '../hooks/crossplane/model/key-selector.ts';
import { type OwnMode, ownModes } from '../hooks/crossplane/model/own.ts';
import { limits } from '../hooks/objects/limits.ts';
import { choice, duration, integer, type LogLevel, level, listOf, matching, namespace, type Rule } from './config-rules.ts';
import type { ApiServerAccess } from './kubernetes/connect.ts';

export interface Config {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host: string;
  /** The namespace of Leases and of the sealing key. All hooks of a cluster must have one value. */
  readonly engineNamespace: string;
  /** The namespaces whose Transactions the hook serves, if the engine may read no others; empty for all. */
  readonly namespaces: readonly string[];
  readonly logLevel: LogLevel;
  /** Longest request body in bytes. A Transaction of 1.5 MiB may grow to several times that as escaped JSON. */
  readonly bodyLimit: number;
  /** ms after which a call starts no further change; 0 for one change per call. */
  readonly callBudget: number;
  /** ms for which a call reuses a read of a Transaction and its Leases. */
  readonly readAge: number;
  /** Writes of one wave that a call sends side by side, at most. */
  readonly parallel: number;
  /**
   * Directory with the bearer tokens that callers may send; in a Pod, a mounted Secret. It holds the file `current`, and `previous`
   * during a rotation. Absent with --insecure: then any client may call.
   */
  readonly tokenDirectory?: string;
  /** Absent: plain HTTP. */
  readonly tls?: TlsPaths;
  /** Absent: the hook does not serve package transactions. */
  readonly packages?: PackagesConfig;
}

export interface PackagesConfig {
  /** The namespace of stages, their contents, and pull secrets. */
  readonly namespace: string;
  /** A directory for the cache only. It may be emptied at any time. */
  readonly cacheDirectory: string;
  /** Registries that speak plain HTTP, each with its port if it has one. */
  readonly httpHosts: readonly string[];
  /** The version of Crossplane. If it is empty, the hook does not check `spec.crossplane.version` of packages. */
  readonly crossplane: string;
  readonly mode: CrossplaneMode;
  /** A Secret in that namespace with the authority of the servers of webhooks, if Crossplane does not run packages; else empty. */
  readonly webhookSecret: string;
  /** Which Packages make their own package transactions. */
  readonly own: OwnMode;
  /** Certificates of authorities that sign registries, in the namespace of packages; absent: those of the system alone. */
  readonly authority: KeySelector | undefined;
  /** The trusted root of Sigstore, in the namespace of packages; absent: no certificate has signed an image. */
  readonly trustedRoot: KeySelector | undefined;
  /** The URL of the proxy for registries, which may have credentials; empty: none. */
  readonly proxy: string;
  /** Hosts and domains that the hook reaches without the proxy. */
  readonly noProxy: readonly string[];
}

/**
 * - `absent`: no package manager of Crossplane runs in the cluster.
 * - `beside`: Crossplane runs the revisions that the hook installs.
 * - `idle`: a Crossplane runs, and the user keeps its package manager from all packages.
 */
const crossplaneModes = { absent: 'absent', beside: 'beside', idle: 'idle' } as const;

export type CrossplaneMode = keyof typeof crossplaneModes;

/** Paths of PEM files. */
export interface TlsPaths {
  readonly certificate: string;
  readonly key: string;
  /** If set, callers must present a certificate signed by this authority. */
  readonly clientAuthority?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

type ConfigResult =
  | { readonly kind: 'ok'; readonly config: Config }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

const mebibyte = 1024 * 1024;
const { requests, engineRequests } = limits;

const pathPattern = /^\P{Cc}+$/u;
const path = matching('', 'a path', pathPattern);
const material: Rule<KeySelector | undefined> = {
  fallback: undefined,
  expected: 'ConfigMap/NAME/KEY or Secret/NAME/KEY',
  parse: readKeySelector,
};
const proxyPattern = /^https?:\/\/[^\s/?#]+\/?$/;
/** It may have a password: no message quotes it. */
const proxyUrl: Rule<string> = {
  fallback: '',
  expected: 'a URL http://HOST:PORT or https://HOST:PORT',
  parse: (text) => (proxyPattern.test(text) && URL.canParse(text) ? text : undefined),
  isSecret: true,
};
const domainPattern = /^\.?[A-Za-z0-9][A-Za-z0-9.-]{0,252}(?::[1-9][0-9]{0,4})?$/;
const hostPattern = /^(?=.*\.)[A-Za-z0-9][A-Za-z0-9.-]{0,252}(?::[1-9][0-9]{0,4})?$/;

const rules = {
  PORT: integer(8080, 0, 65_535),
  HOST: matching('0.0.0.0', 'an address or a host name', /^[A-Za-z0-9.:_-]+$/),
  JANUS_NAMESPACE: matching('janus-system', 'a namespace name', namespace),
  JANUS_NAMESPACES: listOf('namespaces', namespace),
  LOG_LEVEL: level('info'),
  JANUS_BODY_LIMIT: integer(8 * mebibyte, mebibyte, 256 * mebibyte),
  JANUS_CALL_BUDGET: duration('5s', '10s'),
  JANUS_LOOK_AGE: duration('1s', '5s'),
  // The engine itself needs the rest, to renew locks.
  JANUS_PARALLEL: integer(16, 1, requests.value - engineRequests.value),
  JANUS_SERVICE_ACCOUNT_DIRECTORY: matching('/var/run/secrets/kubernetes.io/serviceaccount', 'a path', pathPattern),
  JANUS_TOKEN_DIRECTORY: path,
  JANUS_TLS_CERTIFICATE: path,
  JANUS_TLS_KEY: path,
  JANUS_TLS_CLIENT_AUTHORITY: path,
  JANUS_PACKAGES: choice(false, { true: true, false: false }),
  JANUS_PACKAGES_NAMESPACE: matching('janus-packages', 'a namespace name', namespace),
  JANUS_PACKAGES_CACHE: matching(join(tmpdir(), 'janus-packages'), 'a path', pathPattern),
  JANUS_PACKAGES_HTTP_HOSTS: listOf('hosts, such as registry.infra.svc:5000', hostPattern),
  JANUS_PACKAGES_CROSSPLANE: choice<CrossplaneMode>('absent', crossplaneModes),
  JANUS_PACKAGES_WEBHOOK_SECRET: matching('', 'the name of a Secret', /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/),
  JANUS_PACKAGES_OWN: choice<OwnMode>('none', ownModes),
  JANUS_PACKAGES_AUTHORITY: material,
  JANUS_PACKAGES_TRUSTED_ROOT: material,
  JANUS_PACKAGES_PROXY: proxyUrl,
  JANUS_PACKAGES_NO_PROXY: listOf('hosts and domains, such as .infra.svc', domainPattern),
  JANUS_CROSSPLANE_VERSION: matching('', 'a version such as v1.20.0', /^v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/),
} satisfies Record<string, Rule<unknown>>;

type Read = <Value>(name: string, rule: Rule<Value>) => Value;

export function readConfig(environment: Environment, flags: readonly string[] = []): ConfigResult {
  const faults: string[] = [];
  const read: Read = (name, rule) => {
    const text = environment[name] ?? '';
    const value = text === '' ? rule.fallback : rule.parse(text);
    if (value === undefined && text !== '') faults.push(`${name}: expected ${rule.expected}, found ${shown(text, rule)}`);
    return value ?? rule.fallback;
  };
  const config: Config = {
    port: read('PORT', rules.PORT),
    host: read('HOST', rules.HOST),
    engineNamespace: read('JANUS_NAMESPACE', rules.JANUS_NAMESPACE),
    namespaces: read('JANUS_NAMESPACES', rules.JANUS_NAMESPACES),
    logLevel: read('LOG_LEVEL', rules.LOG_LEVEL),
    bodyLimit: read('JANUS_BODY_LIMIT', rules.JANUS_BODY_LIMIT),
    callBudget: read('JANUS_CALL_BUDGET', rules.JANUS_CALL_BUDGET),
    readAge: read('JANUS_LOOK_AGE', rules.JANUS_LOOK_AGE),
    parallel: read('JANUS_PARALLEL', rules.JANUS_PARALLEL),
    ...present({ tokenDirectory: read('JANUS_TOKEN_DIRECTORY', rules.JANUS_TOKEN_DIRECTORY) }),
    ...tlsOf(read),
    ...packagesOf(read),
  };
  read('JANUS_SERVICE_ACCOUNT_DIRECTORY', rules.JANUS_SERVICE_ACCOUNT_DIRECTORY);
  faults.push(...clusterFaults(environment), ...callerFaults(environment, flags), ...tlsFaults(environment));
  return faults.length === 0 ? { kind: 'ok', config: Object.freeze(config) } : { kind: 'faults', faults };
}

function shown(text: string, { isSecret }: Rule<unknown>): string {
  return isSecret === true ? 'another text' : JSON.stringify(text);
}

/** KUBECONFIG takes precedence, as for kubectl. Undefined if KUBECONFIG is not set, and the process does not run in a Pod. */
export function apiServerOf(environment: Environment): ApiServerAccess | undefined {
  const of = (name: string, fallback = ''): string => environment[name] || fallback;
  if (of('KUBECONFIG') !== '') return { kind: 'kubeconfig', paths: of('KUBECONFIG') };
  const host = of('KUBERNETES_SERVICE_HOST');
  if (host === '') return undefined;
  const directory = of('JANUS_SERVICE_ACCOUNT_DIRECTORY', rules.JANUS_SERVICE_ACCOUNT_DIRECTORY.fallback);
  return { kind: 'pod', host, port: of('KUBERNETES_SERVICE_PORT', '443'), directory };
}

function clusterFaults(environment: Environment): readonly string[] {
  if (apiServerOf(environment) !== undefined) return [];
  return ['KUBECONFIG: is required outside a Pod (KUBERNETES_SERVICE_HOST is not set): path of a kubeconfig file'];
}

const insecure = '--insecure';

function callerFaults({ JANUS_TOKEN_DIRECTORY = '' }: Environment, flags: readonly string[]): readonly string[] {
  const unknown = flags.filter((flag) => flag !== insecure).map((flag) => `${flag}: unknown flag; the only flag is ${insecure}`);
  if (JANUS_TOKEN_DIRECTORY === '' && !flags.includes(insecure))
    return [
      ...unknown,
      `JANUS_TOKEN_DIRECTORY: is required: directory with the bearer token that callers send (docs/access.md); ${insecure} disables authentication`,
    ];
  if (JANUS_TOKEN_DIRECTORY !== '' && flags.includes(insecure))
    return [...unknown, `JANUS_TOKEN_DIRECTORY: must be empty with ${insecure}, found ${JSON.stringify(JANUS_TOKEN_DIRECTORY)}`];
  return unknown;
}

function packagesOf(read: Read): Pick<Config, 'packages'> {
  const packages = {
    namespace: read('JANUS_PACKAGES_NAMESPACE', rules.JANUS_PACKAGES_NAMESPACE),
    cacheDirectory: read('JANUS_PACKAGES_CACHE', rules.JANUS_PACKAGES_CACHE),
    httpHosts: read('JANUS_PACKAGES_HTTP_HOSTS', rules.JANUS_PACKAGES_HTTP_HOSTS),
    crossplane: read('JANUS_CROSSPLANE_VERSION', rules.JANUS_CROSSPLANE_VERSION),
    mode: read('JANUS_PACKAGES_CROSSPLANE', rules.JANUS_PACKAGES_CROSSPLANE),
    webhookSecret: read('JANUS_PACKAGES_WEBHOOK_SECRET', rules.JANUS_PACKAGES_WEBHOOK_SECRET),
    own: read('JANUS_PACKAGES_OWN', rules.JANUS_PACKAGES_OWN),
    authority: read('JANUS_PACKAGES_AUTHORITY', rules.JANUS_PACKAGES_AUTHORITY),
    trustedRoot: read('JANUS_PACKAGES_TRUSTED_ROOT', rules.JANUS_PACKAGES_TRUSTED_ROOT),
    proxy: read('JANUS_PACKAGES_PROXY', rules.JANUS_PACKAGES_PROXY),
    noProxy: read('JANUS_PACKAGES_NO_PROXY', rules.JANUS_PACKAGES_NO_PROXY).map((one) => one.replace(/^\./, '')),
  };
  return read('JANUS_PACKAGES', rules.JANUS_PACKAGES) ? { packages } : {};
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
  return missing.map((name) => `${name}: is required for TLS: path of a PEM file`);
}

/** The variables without empty values. */
function present<Values extends Readonly<Record<string, string>>>(values: Values): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) as Partial<Values>;
}
