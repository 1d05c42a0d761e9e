// The API server's audit log: one event for each request that it carried out or refused, sorted by run. Everything in a run has a
// name that contains the name of the run.
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { at, isObject, type Json, type JsonObject, parseJson, textAt } from '../../hooks/objects/json.ts';
import { engineUser } from '../support/engine-identity.ts';
import { keyOf } from './places.ts';

/** Users of the runs, other than the engine's. */
export const users = { controller: 'faults-controller', stranger: 'faults-stranger' } as const;

/** A user with no rights but those of `adversaryRules`. */
export const adversaryUser = 'faults-adversary';

export type Actor = 'engine' | 'account' | 'stranger' | 'controller' | 'adversary';

export interface AuditEvent {
  readonly actor: Actor;
  readonly verb: string;
  /** `configmaps`, `transactions/status` */
  readonly resource: string;
  readonly name: string;
  /** The object's key, as `keyOf` makes it. */
  readonly key: string;
  readonly code: number;
  readonly fieldManager: string;
  readonly request: JsonObject;
  readonly response: JsonObject;
  /** When the request came and when it was answered: RFC 3339 with microseconds, comparable as text. */
  readonly received: string;
  readonly answered: string;
}

export interface AuditTrail {
  /** The events of a run so far, in the order of their answers, without dry runs. Each event is returned once. */
  take(run: string): readonly AuditEvent[];
}

const chunk = Buffer.alloc(1 << 20);

export function openAuditTrail(path: string): AuditTrail {
  const byRun = new Map<string, AuditEvent[]>();
  const bytes: { rest: Buffer; position: number } = { rest: Buffer.alloc(0), position: 0 };
  const file = openSync(path, 'r');
  process.once('exit', () => closeSync(file));
  const readOn = (): void => {
    for (;;) {
      const count = readSync(file, chunk, 0, chunk.length, bytes.position);
      if (count === 0) return;
      bytes.position += count;
      const text = Buffer.concat([bytes.rest, chunk.subarray(0, count)]);
      const end = text.lastIndexOf(10) + 1;
      bytes.rest = Buffer.from(text.subarray(end));
      for (const line of text.subarray(0, end).toString('utf8').split('\n')) sort(byRun, line);
    }
  };
  return {
    take: (run) => {
      readOn();
      const events = byRun.get(run) ?? [];
      byRun.delete(run);
      // Without its events a run would break no invariant, whatever it did.
      if (statSync(path).ino !== fstatSync(file).ino) throw new Error(`${path} was rotated: the events after it are not seen`);
      return events;
    },
  };
}

const runName = /\brun\d+\b/;

function sort(byRun: Map<string, AuditEvent[]>, line: string): void {
  const run = line === '' ? undefined : runName.exec(line)?.[0];
  if (run === undefined) return;
  const event = eventOf(parseJson(line));
  if (event === undefined) return;
  const events = byRun.get(run);
  if (events === undefined) byRun.set(run, [event]);
  else events.push(event);
}

/** Undefined for a dry run, and for requests of users that are no actors of the runs. */
export function eventOf(event: Json): AuditEvent | undefined {
  const query = new URLSearchParams((textAt(event, 'requestURI') ?? '').split('?')[1] ?? '');
  const actor = actorOf(event);
  const request = objectAt(event, 'requestObject');
  // A DELETE has dryRun in its body, all other requests in the query.
  if (query.has('dryRun') || at(request, 'dryRun') !== undefined || actor === undefined) return undefined;
  const code = at(event, 'responseStatus', 'code');
  if (wasCutOff(event, code)) return undefined;
  return {
    actor,
    ...whereOf(event, request),
    code: typeof code === 'number' ? code : 0,
    fieldManager: query.get('fieldManager') ?? '',
    request,
    response: objectAt(event, 'responseObject'),
    received: text(event, 'requestReceivedTimestamp'),
    answered: text(event, 'stageTimestamp'),
  };
}

/** A write whose body never arrived counts as refused. */
function wasCutOff(event: Json, code: Json | undefined): boolean {
  const isWrite = textAt(event, 'verb') !== 'get';
  return isWrite && at(event, 'requestObject') === undefined && !(typeof code === 'number' && code < 300);
}

function whereOf(event: Json, request: JsonObject): Pick<AuditEvent, 'verb' | 'resource' | 'name' | 'key'> {
  const subresource = textAt(event, 'objectRef', 'subresource');
  const resource = textAt(event, 'objectRef', 'resource') ?? '';
  const name = textAt(event, 'objectRef', 'name') ?? textAt(request, 'metadata', 'name') ?? '';
  const [group, namespace] = [textAt(event, 'objectRef', 'apiGroup'), textAt(event, 'objectRef', 'namespace')];
  // The audit log gives a Namespace itself as its namespace.
  const key = keyOf({ group, resource, namespace: resource === 'namespaces' ? undefined : namespace, name });
  return { verb: text(event, 'verb'), resource: subresource === undefined ? resource : `${resource}/${subresource}`, name, key };
}

function text(event: Json, key: string): string {
  return textAt(event, key) ?? '';
}

function objectAt(event: Json, key: string): JsonObject {
  const object = at(event, key);
  return isObject(object) ? object : {};
}

const others: ReadonlyMap<string, Actor> = new Map([
  [users.stranger, 'stranger'],
  [users.controller, 'controller'],
  [adversaryUser, 'adversary'],
]);

function actorOf(event: Json): Actor | undefined {
  const impersonated = textAt(event, 'impersonatedUser', 'username');
  if (textAt(event, 'user', 'username') === engineUser) {
    if (impersonated === undefined) return 'engine';
    return /^system:serviceaccount:.*:deployer$/.test(impersonated) ? 'account' : undefined;
  }
  return impersonated === undefined ? undefined : others.get(impersonated);
}
