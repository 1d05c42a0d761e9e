// Users of a kubeconfig as Kubernetes means them. client-node does not know `tokenFile` (it asks for `token-file`, which Kubernetes
// does not know), starts a plugin by a relative path from the working directory, and writes an absent password as `undefined`.
import { readFileSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { load } from 'js-yaml';
import { at, isList, type Json, textAt } from '../../hooks/objects/json.ts';

type User = KubeConfig['users'][number];

/** `config`: as client-node has loaded it from the file at `path`, where relative paths start. Throws where that is no YAML. */
export function completeUsers({ users }: KubeConfig, path: string): void {
  const written = usersWith(['tokenFile'], path);
  const from = dirname(path);
  for (const user of users) {
    const file = textAt(written.get(user.name), 'user', 'tokenFile') ?? '';
    if (file !== '') useTokenFile(user, resolve(from, file));
    settlePlugin(user, from);
    if (user.username) Object.assign(user, { password: user.password ?? '' });
  }
}

// As client-go, it is not run for a user who has other credentials. A mere name is looked for in PATH.
function settlePlugin(user: User, from: string): void {
  const { exec, token, username, certData, certFile } = user;
  const command: unknown = exec?.command;
  if ([token, username, certData, certFile].some(Boolean)) Object.assign(user, { exec: undefined });
  else if (typeof command === 'string' && command.includes(sep))
    Object.assign(user, { exec: { ...exec, command: resolve(from, command) } });
}

/** Users of the file that have one of these fields, as they are written, by name. */
export function usersWith(fields: readonly string[], path: string): ReadonlyMap<string, Json> {
  const text = readFileSync(path, 'utf8');
  if (!fields.some((field) => text.includes(field))) return new Map();
  const users = at(load(text) as Json, 'users');
  const found = (isList(users) ? users : []).filter((one) => fields.some((field) => at(one, 'user', field) !== undefined));
  return new Map(found.map((one) => [textAt(one, 'name') ?? '', one]));
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
