// The kubeconfig files of the hook and of the command line. client-node reads each file, and authenticates. This file corrects its
// differences from kubectl and client-go. client-node merges files in another way. It does not know `tokenFile`: it reads `token-file`,
// which Kubernetes does not know. It resolves the relative path of a plugin from the working directory. It writes an absent password as
// `undefined`.
import { readFileSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
// Imports one file, because the main module of the package loads the models of every kind, and takes twice as long.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { load } from 'js-yaml';
import { at, type Json, listAt, textAt } from '../../hooks/objects/json.ts';

type User = KubeConfig['users'][number];
type Cluster = NonNullable<ReturnType<KubeConfig['getCurrentCluster']>>;

/** Merges the files as kubectl does: the first file that names a context, cluster or user wins. Throws a sentence for the user. */
export function readKubeconfigs(paths: readonly string[]): KubeConfig {
  return merged(paths.map(readFile));
}

// The message of a parser quotes the file, and the file holds tokens.
function readFile(path: string): KubeConfig {
  const config = new KubeConfig();
  try {
    // kubectl accepts an empty file, which `kubectl config` fills. client-node fails on it.
    if (isEmptyFile(path)) return merged([]);
    // Like kubectl, it ignores a context without a cluster (`kubectl config set-context`), unless it is the current context.
    config.loadFromFile(path, { onInvalidEntry: 'filter' });
    completeUsers(config, path);
    return config;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'it is not a kubeconfig';
    throw new Error(`The kubeconfig ${path} cannot be used (${code}): correct it, or name another file.`);
  }
}

function isEmptyFile(path: string): boolean {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.every((line) => /^\s*(#.*|---\s*)?$/.test(line));
}

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

/** Throws a sentence for the user if the current context cannot be used. `place`: the source of the context, such as the paths. */
export function refuseUnusable(config: KubeConfig, place: string): void {
  const name = config.getCurrentContext() ?? '';
  const context = config.getContextObject(name);
  if (context === null) throw noContext(config, place, name);
  // client-node treats an unknown user as an anonymous user, and does not send the authority of the cluster either.
  if (context.user !== undefined && config.getUser(context.user) === null)
    throw new Error(`Context "${name}" of ${place}: user "${context.user}" not found: correct it.`);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`Context "${name}" of ${place} names a cluster that does not exist: correct it.`);
  const fault = faultOf(cluster);
  if (fault !== undefined) throw new Error(`Cluster "${cluster.name}" of ${place} ${fault}.`);
  const user = config.getCurrentUser();
  if (user !== null && impersonating.has(user))
    throw new Error(`User "${user.name}" of ${place} has ${unknownImpersonation.join(', ')} or some of them: remove them.`);
}

function noContext(config: KubeConfig, place: string, name: string): Error {
  const known = config.contexts.map((context) => context.name).join(', ');
  const found = name === '' ? 'no current context' : `no context "${name}" with a cluster`;
  return new Error(`The kubeconfig ${place} has ${found}: choose one of its contexts (${known || 'it has none'}).`);
}

function faultOf({ server, proxyUrl = '', skipTLSVerify }: Cluster): string | undefined {
  if (!URL.canParse(server) || !/^https?:/.test(server)) return 'has no usable server: expected a URL, such as https://HOST:6443';
  // client-node refuses it only when it sends a request, and does not report that to the caller.
  if (server.startsWith('http:') && !skipTLSVerify)
    return 'uses http, so other hosts could read the credentials: use https, or set insecure-skip-tls-verify';
  return proxyUrl === '' || /^https?:\/\//.test(proxyUrl)
    ? undefined
    : 'has a proxy-url that is neither http nor https: use one of them';
}

/** Users that client-node would impersonate in part, because it reads only `as`. */
const impersonating = new WeakSet<object>();
const unknownImpersonation = ['as-groups', 'as-uid', 'as-user-extra'];

// Relative paths start from the folder of the file.
function completeUsers({ users }: KubeConfig, path: string): void {
  const written = usersWith(['tokenFile', ...unknownImpersonation], path);
  const from = dirname(path);
  for (const user of users) completeUser(user, at(written.get(user.name), 'user'), from);
}

function completeUser(user: User, written: Json | undefined, from: string): void {
  if (unknownImpersonation.some((field) => at(written, field) !== undefined)) impersonating.add(user);
  const file = textAt(written, 'tokenFile') ?? '';
  if (file !== '') useTokenFile(user, resolve(from, file));
  settlePlugin(user, from);
  if (user.username) Object.assign(user, { password: user.password ?? '' });
}

/** Users of the file that have one of these fields, as they are written, by name. Throws if the file is not YAML. */
function usersWith(fields: readonly string[], path: string): ReadonlyMap<string, Json> {
  const text = readFileSync(path, 'utf8');
  if (!fields.some((field) => text.includes(field))) return new Map();
  return new Map(listAt(load(text) as Json, 'users').map((one) => [textAt(one, 'name') ?? '', one]));
}

// Like client-go, it does not run the plugin if the user has other credentials. It looks for a name without a path in PATH.
function settlePlugin(user: User, from: string): void {
  const { exec, token, username, certData, certFile } = user;
  const command: unknown = exec?.command;
  if ([token, username, certData, certFile].some(Boolean)) Object.assign(user, { exec: undefined });
  else if (typeof command === 'string' && command.includes(sep))
    Object.assign(user, { exec: { ...exec, command: resolve(from, command) } });
}

// Like client-go: `tokenFile` takes precedence over a token and a plugin, and is read again each minute. If it is empty, `token` counts.
// Source: k8s.io/client-go, tools/clientcmd/client_config.go, transport/token_source.go and plugin/pkg/client/auth/exec/exec.go.
function useTokenFile(user: User, file: string): void {
  if (user.token !== undefined && !hasToken(file)) return;
  Object.assign(user, {
    authProvider: { name: 'tokenFile', config: { tokenFile: file } },
    token: undefined,
    exec: undefined,
  });
}

function hasToken(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').trim() !== '';
  } catch {
    return false;
  }
}
