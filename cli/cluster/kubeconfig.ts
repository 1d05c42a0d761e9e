// Which cluster, as kubectl finds it: --kubeconfig, else the files of KUBECONFIG merged, else ~/.kube/config, else the files of a
// Pod. client-node reads each file and knows the ways to authenticate; it merges otherwise than kubectl, so that is done here.
import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
// The file itself: the package's own entrance loads the models of every kind, and takes twice as long.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { completeUsers, usersWith } from '../../server/kubernetes/kubeconfig-users.ts';
import { codeOf, Problem } from '../problem.ts';
import { prepareOidc } from './oidc.ts';
import { authorityIn, trust } from './trust.ts';

export interface Place {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Throws a Problem: no file, a file that cannot be used, or no such context. */
export function loadKubeConfig(place: Place, env: Environment): KubeConfig {
  const paths = pathsOf(place, env);
  const config = paths.length === 0 ? inCluster(env) : merged(paths.map(loadFile));
  if (place.context !== undefined) config.setCurrentContext(place.context);
  refuseUnusable(config, paths);
  refuseFurther(config);
  withoutSlash(config);
  prepareOidc(config, paths[0]);
  trustProxy(config);
  return config;
}

/** Names of all contexts. Throws a Problem. */
export function contextsIn(place: Place, env: Environment): readonly string[] {
  return merged(pathsOf(place, env).map(loadFile)).contexts.map(({ name }) => name);
}

function pathsOf({ kubeconfig }: Place, env: Environment): readonly string[] {
  if (kubeconfig !== undefined) return [kubeconfig];
  const named = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length > 0) return found(named);
  return [join(env.HOME ?? homedir(), '.kube', 'config')].filter((path) => existsSync(path));
}

// kubectl passes over a file that does not exist, so that KUBECONFIG may name one that a tool will write.
function found(paths: readonly string[]): readonly string[] {
  const existing = paths.filter((path) => existsSync(path));
  if (existing.length > 0) return existing;
  throw new Problem(`KUBECONFIG names ${paths.join(' and ')}, found no such file: correct it, or give --kubeconfig FILE.`);
}

// A parser's own message quotes the file, and the file holds tokens.
function loadFile(path: string): KubeConfig {
  const config = new KubeConfig();
  try {
    // As for kubectl, which fills it by `kubectl config`: client-node fails on it.
    if (isEmptyFile(path)) return merged([]);
    // As kubectl, which passes over a context without a cluster (`kubectl config set-context`), unless it is the one that is used.
    config.loadFromFile(path, { onInvalidEntry: 'filter' });
    completeUsers(config, path);
    noteFurther(config, path);
    return config;
  } catch (error) {
    const code = codeOf(error, 'it is no kubeconfig');
    throw new Problem(`The kubeconfig ${path} cannot be used (${code}): correct it, or name another by --kubeconfig.`);
  }
}

function isEmptyFile(path: string): boolean {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.every((line) => /^\s*(#.*|---\s*)?$/.test(line));
}

/** Users whom client-node would impersonate in part: it reads `as` alone. */
const further = new WeakSet<object>();
const furtherKeys = ['as-groups', 'as-uid', 'as-user-extra'];

function noteFurther({ users }: KubeConfig, path: string): void {
  const written = usersWith(furtherKeys, path);
  for (const user of users) if (written.has(user.name)) further.add(user);
}

/** The first file that names a context, cluster or user wins, and so does the first current context. */
function merged(configs: readonly KubeConfig[]): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: firstOfEach(configs.flatMap(({ clusters }) => clusters)),
    users: firstOfEach(configs.flatMap(({ users }) => users)),
    contexts: firstOfEach(configs.flatMap(({ contexts }) => contexts)),
    currentContext: configs.map(({ currentContext }) => currentContext).find((name) => name !== undefined && name !== ''),
  });
  return config;
}

function firstOfEach<T extends { readonly name: string }>(entries: readonly T[]): readonly T[] {
  return entries.filter(({ name }, index) => entries.findIndex((other) => other.name === name) === index);
}

const podFiles = '/var/run/secrets/kubernetes.io/serviceaccount';

/** As client-go's InClusterConfig and kubectl: the address by the environment, token, CA and namespace by files. */
function inCluster(env: Environment): KubeConfig {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (host === '') throw new Problem('There is no kubeconfig: set KUBECONFIG, give --kubeconfig FILE, or write ~/.kube/config.');
  const [token, caFile, namespace] = ['token', 'ca.crt', 'namespace'].map((name) =>
    join(env.JANUS_SERVICE_ACCOUNT_DIRECTORY ?? podFiles, name),
  ) as [string, string, string];
  const name = 'in-cluster';
  const own = existsSync(namespace) ? { namespace: readFileSync(namespace, 'utf8').trim() } : {};
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name, server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`, caFile, skipTLSVerify: false }],
    users: [{ name, authProvider: { name: 'tokenFile', config: { tokenFile: token } } }],
    contexts: [{ name, cluster: name, user: name, ...own }],
    currentContext: name,
  });
  return config;
}

function refuseFurther(config: KubeConfig): void {
  const user = config.getCurrentUser();
  if (user !== null && further.has(user))
    throw new Problem(
      `User "${user.name}" of the kubeconfig has ${furtherKeys.join(', ')} or some of them: only \`as\` is read here.`,
    );
}

/** client-node's Watch puts the path behind the server as it is written. */
function withoutSlash(config: KubeConfig): void {
  const cluster = config.getCurrentCluster();
  if (cluster !== null) Object.assign(cluster, { server: cluster.server.replace(/\/+$/, '') });
}

/**
 * As kubectl, the certificate of an HTTPS proxy may be signed by the authority of the cluster, beside those that this process trusts:
 * client-node and undici hand the cluster's on to the API server alone.
 */
function trustProxy(config: KubeConfig): void {
  const { proxyUrl = '', caData, caFile } = config.getCurrentCluster() ?? {};
  if (!proxyUrl.startsWith('https:')) return;
  if (caData !== undefined) trust(Buffer.from(caData, 'base64').toString());
  else if (caFile !== undefined && existsSync(caFile)) trust(authorityIn(caFile, 'certificate-authority'));
}

function refuseUnusable(config: KubeConfig, paths: readonly string[]): void {
  const place = paths.join(' and ') || 'of this Pod';
  const name = config.getCurrentContext() ?? '';
  const context = config.getContextObject(name);
  if (context === null) throw noContext(config, place, name);
  refuseStranger(config, place, context);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Problem(`Context "${name}" of ${place} names a cluster that is not there: correct it.`);
  const fault = faultOf(cluster);
  if (fault !== undefined) throw new Problem(`Cluster "${cluster.name}" of ${place} ${fault}.`);
}

function faultOf({ server, proxyUrl, skipTLSVerify }: Cluster): string | undefined {
  if (!URL.canParse(server) || !/^https?:/.test(server)) return 'has no usable server: expected a URL, such as https://HOST:6443';
  // client-node refuses it once it is to send something, and says it to nobody.
  if (server.startsWith('http:') && !skipTLSVerify)
    return 'is reached by http, so that credentials could be read on the way: use https, or set insecure-skip-tls-verify';
  const hasProxy = proxyUrl !== undefined && proxyUrl !== '';
  return hasProxy && !/^https?:\/\//.test(proxyUrl)
    ? 'has a proxy-url that is neither http nor https: use one that is'
    : undefined;
}

type Cluster = NonNullable<ReturnType<KubeConfig['getCurrentCluster']>>;

/** client-node takes one that is not there for nobody, and sends no authority of the cluster either. */
function refuseStranger(config: KubeConfig, place: string, { name, user }: Readonly<Record<'name' | 'user', string>>): void {
  if (user !== undefined && config.getUser(user) === null)
    throw new Problem(`Context "${name}" of ${place} names the user "${user}", who is not there: correct it.`);
}

function noContext(config: KubeConfig, place: string, name: string): Problem {
  const known = config.contexts.map((context) => context.name).join(', ');
  const found = name === '' ? 'no current context' : `no context "${name}" with a cluster`;
  return new Problem(`The kubeconfig ${place} has ${found}: name one of its contexts by --context (${known || 'it has none'}).`);
}
