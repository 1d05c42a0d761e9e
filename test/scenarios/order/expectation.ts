// The objects of a run, and what they are expected to be: made again without the Transactions that are undone.
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { apiVersionOf, collectionOf, type Named, pathOf, writeAs } from '../../generated/world.ts';
import { must } from '../../support/client.ts';
import type { Stage } from '../../support/stage.ts';
import { stepToEnd, stepUntilGone } from '../../support/stepping.ts';
import { type Known, knownOf, portraitOf } from './oracle.ts';
import type { Orders, PlannedChange, Subject } from './story.ts';

export interface Expectation {
  /** What an object is where just these Transactions have been; undefined where one of them could not have been. */
  readonly of: (subject: number, standing: ReadonlySet<number>) => Promise<string | undefined>;
  /** It was seen: it need not be made again. */
  readonly seen: (subject: number, standing: ReadonlySet<number>, portrait: string) => void;
}

export function namedObject(stage: Stage, kind: Named['kind'], name: string): Named {
  return { kind, name, path: pathOf(stage, kind, name) };
}

export async function makeObject({ client, ...stage }: Stage, { kind, origin, history }: Subject, named?: Named): Promise<void> {
  if (origin === undefined || named === undefined) return;
  const metadata = { ...(origin.metadata as JsonObject | undefined), name: named.name };
  const object = { apiVersion: apiVersionOf(kind), kind, ...origin, metadata };
  must(await client.create(collectionOf({ client, ...stage }, kind), object, { fieldManager: 'creator' }));
  for (const [number, write] of history.entries()) await writeAs(client, named, write, `author-${number}`);
}

export function changeOf({ type, content, recreates = false }: PlannedChange, { kind, name }: Named): JsonObject {
  const target = { apiVersion: apiVersionOf(kind), kind, name };
  if (type === 'Delete') return { type, target };
  return { type, target, content, ...(recreates ? { whenImmutable: 'Recreate' } : {}) };
}

export async function read({ client }: Stage, { path }: Named): Promise<JsonObject | undefined> {
  const answer = await client.get(path);
  return answer.code === 404 ? undefined : must(answer);
}

const annotations = { 'tx.janus.io/allow-irreversible': 'true' };

/** What Transaction `number` has beside its changes. */
export function extrasOf(
  { fieldManagers }: Orders,
  number: number,
): { readonly annotations: typeof annotations; readonly spec: JsonObject } {
  const fieldManager = fieldManagers[number];
  return { annotations, spec: fieldManager === undefined ? {} : { fieldManager } };
}

// The undos of other Transactions read the kept objects.
export async function remove(stage: Stage, known: readonly Known[]): Promise<void> {
  for (const { name } of known) {
    must(await stage.client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}`));
    await stepUntilGone(stage, name);
  }
}

export function expectation(stage: Stage, orders: Orders, name: string): Expectation {
  const found = new Map<string, Promise<string | undefined>>();
  const keyOf = (index: number, standing: ReadonlySet<number>): string => [index, ...[...standing].sort()].join('-');
  return {
    of: (index, standing) => {
      const key = keyOf(index, standing);
      const known = found.get(key) ?? replay(stage, { orders, index, standing, name: `${name}-r${key}` });
      found.set(key, known);
      return known;
    },
    seen: (index, standing, portrait) => {
      found.set(keyOf(index, standing), Promise.resolve(portrait));
    },
  };
}

interface Replay {
  readonly orders: Orders;
  readonly index: number;
  readonly standing: ReadonlySet<number>;
  readonly name: string;
}

async function replay(stage: Stage, { orders, index, standing, name }: Replay): Promise<string | undefined> {
  const subject = orders.subjects[index];
  if (subject === undefined) return undefined;
  const named = namedObject(stage, subject.kind, name);
  await makeObject(stage, subject, named);
  const known: Known[] = [];
  for (const number of [...standing].sort()) {
    const planned = subject.changes[number];
    if (planned === undefined) continue;
    const extras = extrasOf(orders, number);
    known.push(knownOf(await stage.transaction(`${name}-t${number}`, [changeOf(planned, named)], extras), number));
    if ((await stepToEnd(stage, `${name}-t${number}`)).phase !== 'Committed') return remove(stage, known).then(() => undefined);
  }
  const portrait = portraitOf(await read(stage, named), known);
  await stage.client.delete(named.path);
  await remove(stage, known);
  return portrait;
}
