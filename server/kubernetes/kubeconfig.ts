// The kubeconfig files of the hook and of the command line. client-node reads each file and knows the ways to authenticate. What it does
// otherwise than kubectl and client-go is done here: it merges files in another way, it does not know `tokenFile` (it asks for
// `token-file`, which Kubernetes does not know), it starts a plugin by a relative path from the working directory, and it writes an
// absent password as `undefined`.
import { readFileSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
// The file itself: the package's own entrance loads the models of every kind, and takes twice as long.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { load } from 'js-yaml';
import { at, isList, type Json, textAt } from '../../hooks/objects/json.ts';

type User = KubeConfig['users'][number];
type Cluster = NonNullable<ReturnType<KubeConfig['getCurrentCluster']>>;

/** The files merged as kubectl merges them: the first that names a context, cluster or user wins. Throws a sentence for people. */
export function readKubeconfigs(paths: readonly string[]): KubeConfig {
  return merged(paths.map(readFile));
}

// A parser's own message quotes the file, and the file holds tokens.
function readFile(path: string): KubeConfig {
  const config = new KubeConfig();
  try {
    // As for kubectl, which fills it by `kubectl config`: client-node fails on it.
    if (isEmptyFile(path)) return merged([]);
    // As kubectl, which passes over a context without a cluster (`kubectl config set-context`), unless it is the current context.
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

/** Throws a sentence for people if no request can be made with the current context. `place`: where it is from, such as the paths. */
export function refuseUnusable(config: KubeConfig, place: string): void {
  const name = config.getCurrentContext() ?? '';
  const context = config.getContextObject(name);
  if (context === null) throw noContext(config, place, name);
  // client-node treats an unknown user as an anonymous user, and does not send the authority of the cluster either.
  if (context.user !== undefined && config.getUser(context.user) === null)
    throw new Error(`Context "${name}" of ${place}: user "${context.user}" not found: correct it.`);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`Context "${name}" of ${place} names a cluster that is not there: correct it.`);
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
  // client-node refuses it when it is to send something, and reports that to no caller.
  if (server.startsWith('http:') && !skipTLSVerify)
    return 'is reached by http, so that credentials could be read on the way: use https, or set insecure-skip-tls-verify';
  return proxyUrl === '' || /^https?:\/\//.test(proxyUrl)
    ? undefined
    : 'has a proxy-url that is neither http nor https: use one that is';
}

/** Users whom client-node would impersonate in part: it reads `as` alone. */
const impersonating = new WeakSet<object>();
const unknownImpersonation = ['as-groups', 'as-uid', 'as-user-extra'];

// Relative paths start at the folder of the file.
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

/** Users of the file that have one of these fields, as they are written, by name. Throws where the file is no YAML. */
function usersWith(fields: readonly string[], path: string): ReadonlyMap<string, Json> {
  const text = readFileSync(path, 'utf8');
  if (!fields.some((field) => text.includes(field))) return new Map();
  const users = at(load(text) as Json, 'users');
  return new Map((isList(users) ? users : []).map((one) => [textAt(one, 'name') ?? '', one]));
}

// As client-go, the plugin is not run for a user who has other credentials. A mere name is looked for in PATH.
function settlePlugin(user: User, from: string): void {
  const { exec, token, username, certData, certFile } = user;
  const command: unknown = exec?.command;
  if ([token, username, certData, certFile].some(Boolean)) Object.assign(user, { exec: undefined });
  else if (typeof command === 'string' && command.includes(sep))
    Object.assign(user, { exec: { ...exec, command: resolve(from, command) } });
}

// As client-go: it goes before a token and a plugin, and is read again each minute; a token beside it counts while it has none.
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
