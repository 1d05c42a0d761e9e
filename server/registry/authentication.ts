// Credentials for registries: pull secrets as Kubernetes stores them, and the answers to challenges. The hook sends a secret to its own
// registry, and to the token service that this registry names. It sends a token only to the registry.
import { at, isObject, type Json, textAt } from '../../hooks/objects/json.ts';

interface Login {
  readonly username: string;
  readonly password: string;
}

/** The login for a source from `.dockerconfigjson`: the longest key that equals the source, or contains it, counts. */
export type Keychain = (source: string) => Login | undefined;

/** Reads pull secrets. The first match counts. It skips an unreadable secret, because it may belong to another registry. */
export function readKeychain(secrets: readonly string[]): Keychain {
  const entries = secrets.flatMap(entriesOf);
  return (written) => {
    const source = withOneName(written);
    const fitting = entries.filter(({ name }) => source === name || source.startsWith(`${name}/`));
    return fitting.toSorted((left, right) => right.name.length - left.name.length)[0]?.login;
  };
}

/** The login of the first keychain that has one for the source. */
export function inOrder(...keychains: readonly Keychain[]): Keychain {
  return (source) => keychains.map((one) => one(source)).find((login) => login !== undefined);
}

/** Docker's own registry has three names. `docker login` stores another name than users write in sources. */
function withOneName(name: string): string {
  return name.replace(/^(?:index|registry-1)\.docker\.io(?=\/|$)/, 'docker.io');
}

interface Entry {
  readonly name: string;
  readonly login: Login;
}

function entriesOf(secret: string): readonly Entry[] {
  const auths = at(parsed(secret), 'auths');
  return Object.entries(isObject(auths) ? auths : {}).flatMap(([key, value]) => {
    const login = loginOf(value);
    // Docker writes these keys as a host, with a path, or as a URL with the version of the API.
    const name = key.replace(/^https?:\/\//, '').replace(/\/(?:v[12]\/?)?$/, '');
    return login === undefined ? [] : [{ name: withOneName(name), login }];
  });
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function loginOf(entry: Json): Login | undefined {
  const [username, password, auth] = [textAt(entry, 'username'), textAt(entry, 'password'), textAt(entry, 'auth')];
  if (username !== undefined && password !== undefined) return { username, password };
  const plain = Buffer.from(auth ?? '', 'base64').toString();
  const colon = plain.indexOf(':');
  return colon < 0 ? undefined : { username: plain.slice(0, colon), password: plain.slice(colon + 1) };
}

export function basic({ username, password }: Login): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

export type Challenge =
  | { readonly kind: 'basic' }
  | { readonly kind: 'bearer'; readonly realm: string; readonly parameters: Readonly<Record<string, string>> };

/** The challenge in a WWW-Authenticate header, Bearer preferred. Undefined if the hook can answer none of them. */
export function readChallenge(header: string): Challenge | undefined {
  const bearer = /(?:^|,)\s*bearer\s+(.*)$/i.exec(header)?.[1];
  if (bearer === undefined) return /(?:^|,)\s*basic\b/i.test(header) ? { kind: 'basic' } : undefined;
  const found = [...bearer.matchAll(/([a-z]+)="([^"]*)"/gi)].map(([, key = '', value = '']) => [key.toLowerCase(), value]);
  const { realm, ...parameters }: Record<string, string> = Object.fromEntries(found);
  return realm === undefined ? undefined : { kind: 'bearer', realm, parameters };
}

/** The address of the token service with its query; undefined if the realm is not a valid address. */
export function tokenAddress({ realm, parameters }: Challenge & { kind: 'bearer' }, repository: string): URL | undefined {
  if (!URL.canParse(realm)) return undefined;
  const url = new URL(realm);
  if (parameters.service !== undefined) url.searchParams.set('service', parameters.service);
  // The hook requests only the scope that it needs, whatever scope the registry names: a stolen token must not allow more.
  url.searchParams.set('scope', `repository:${repository}:pull`);
  return url;
}

export function readToken(text: string): string | undefined {
  const answer = parsed(text);
  const token = textAt(answer, 'token') ?? textAt(answer, 'access_token');
  return token !== undefined && /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}
