// What a plan and a commit may differ in, and nothing else: the identity of the object and of the Transaction, times, what the API server
// draws for each request, and status.
import { at, isList, isObject, type Json, type JsonObject, withPath } from '../../hooks/objects/json.ts';

/** uids of the Transaction: as planned, and as created. */
export interface Ids {
  readonly planned: string;
  readonly real: string;
}

const assigned = ['uid', 'resourceVersion', 'creationTimestamp', 'generation'];
const drawnByServer = /^\.spec\.(clusterIPs?\b|ports\..*nodePort|healthCheckNodePort)/;

/** Where the two differ. */
export function unlike(what: string, planned: JsonObject | undefined, real: JsonObject | undefined, ids: Ids): readonly string[] {
  const [one, other] = [normal(planned, ids), normal(real, ids)];
  const differing = [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path));
  return differing.map((path) => `${what}: ${path} is ${other.get(path)}, planned ${one.get(path)}`);
}

function normal(object: JsonObject | undefined, { planned, real }: Ids): Map<string, string | undefined> {
  if (object === undefined) return new Map([['', 'absent']]);
  const metadata = at(object, 'metadata');
  const kept = Object.fromEntries(Object.entries(isObject(metadata) ? metadata : {}).filter(([key]) => !assigned.includes(key)));
  const managers = withPath({ metadata: kept }, ['metadata', 'managedFields'], managersOf(at(kept, 'managedFields')));
  const plain = withPath({ ...object, ...managers }, ['status'], undefined);
  const anonymous = [planned, real].reduce(
    (text, uid) => text.replaceAll(uid, 'uid').replaceAll(uid.slice(0, 8), 'uid'),
    JSON.stringify(plain),
  );
  return new Map(leaves(JSON.parse(anonymous) as Json, '').filter(([path, value]) => !isDrawn(path, value)));
}

function isDrawn(path: string, value: string | undefined): boolean {
  return drawnByServer.test(path) && value !== '"None"';
}

function leaves(value: Json, path: string): readonly (readonly [string, string])[] {
  const parts = isList(value) || isObject(value) ? Object.entries(value) : [];
  return parts.length === 0
    ? [[path, JSON.stringify(value)]]
    : parts.flatMap(([key, one]) => leaves(one as Json, `${path}.${key}`));
}

function managersOf(entries: Json | undefined): Json {
  const all = isList(entries) ? entries.filter((entry) => at(entry, 'subresource') !== 'status') : [];
  return all.map((entry) => JSON.stringify(isObject(entry) ? { ...entry, time: null } : entry)).sort();
}
