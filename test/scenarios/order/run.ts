// One run on the real API server: several Transactions are committed, one after the other, and undone in a given order. After
// each request every object is as if the undone ones had never been, or nothing of it was written and the one in the way is named.
// Then the run retries the rest, as a person would: in the end no trace of any Transaction is left.
import { type Json, textAt } from '../../../hooks/objects/json.ts';
import type { Named } from '../../generated/world.ts';
import { itemsOf, partial } from '../../support/round-trip.ts';
import { conditionOf, type Stage, statusOf } from '../../support/stage.ts';
import { type Stepped, stepTo, stepToEnd } from '../../support/stepping.ts';
import { changeOf, type Expectation, expectation, extrasOf, makeObject, namedObject, read, remove } from './expectation.ts';
import { isUndone, type Known, knownOf, namedIn, portraitOf, shows } from './oracle.ts';
import { type Orders, transactionsOf } from './story.ts';

interface Running {
  readonly stage: Stage;
  readonly orders: Orders;
  readonly name: string;
  readonly objects: readonly Named[];
  readonly known: Known[];
  /** By object: the Transactions whose change of it is in effect. */
  readonly standing: Set<number>[];
  /** By object: changes that own nothing of it, since they set nothing new. Who is undone before them cannot see them. */
  readonly unseen: Set<number>[];
  readonly expected: Expectation;
  requests: number;
}

interface Told {
  readonly conflicts: number;
}

/** Throws with what does not hold. */
export async function runOrders(stage: Stage, orders: Orders, name: string): Promise<Told> {
  const objects = orders.subjects.map(({ kind }, index) => namedObject(stage, kind, `${name}-${index}`));
  const running: Running = {
    stage,
    orders,
    name,
    objects,
    known: [],
    standing: orders.subjects.map(() => new Set()),
    unseen: orders.subjects.map(() => new Set()),
    expected: expectation(stage, orders, name),
    requests: 0,
  };
  await Promise.all(orders.subjects.map((subject, index) => makeObject(stage, subject, objects[index])));
  const origins = await portraits(running);
  for (let number = 0; number < transactionsOf(orders); number += 1) await commitOne(running, number);
  let conflicts = 0;
  for (const number of orders.undos) if (!(await undoOne(running, number, 'request-rollback'))) conflicts += 1;
  await undoTheRest(running);
  const left = (await portraits(running)).flatMap((found, index) =>
    found === origins[index] ? [] : [`object ${index} is not as it was: ${found}\nwas ${origins[index]}`],
  );
  complain(left);
  await Promise.all(objects.map(({ path }) => stage.client.delete(path)));
  await remove(stage, running.known);
  return { conflicts };
}

function complain(complaints: readonly string[]): void {
  if (complaints.length > 0) throw new Error(complaints.join('\n'));
}

async function portraits({ stage, objects, known }: Running): Promise<readonly string[]> {
  return Promise.all(objects.map(async (named) => portraitOf(await read(stage, named), known)));
}

/** The objects of one Transaction, in the order of its changes. */
function subjectsOf({ orders }: Pick<Running, 'orders'>, number: number): readonly number[] {
  return orders.subjects.flatMap(({ changes }, index) => (changes[number] === undefined ? [] : [index]));
}

async function commitOne(running: Running, number: number): Promise<void> {
  const { stage, orders, objects, name, known, standing } = running;
  const subjects = subjectsOf(running, number);
  const changes = subjects.flatMap((index) => {
    const [planned, named] = [orders.subjects[index]?.changes[number], objects[index]];
    return planned === undefined || named === undefined ? [] : [changeOf(planned, named)];
  });
  if (changes.length === 0) return;
  known.push(knownOf(await stage.transaction(`${name}-t${number}`, changes, extrasOf(orders, number)), number));
  const { status, phase } = await stepToEnd(stage, `${name}-t${number}`);
  if (phase !== 'Committed') throw new Error(`Transaction ${number} is ${phase}: ${textAt(status, 'message')}`);
  for (const index of subjects) standing[index]?.add(number);
  await noteCommitted(running, number, subjects);
}

async function noteCommitted(running: Running, number: number, subjects: readonly number[]): Promise<void> {
  const { stage, orders, objects, known, standing, unseen, expected } = running;
  for (const index of subjects) {
    const named = objects[index];
    const object = named === undefined ? undefined : await read(stage, named);
    expected.seen(index, standing[index] ?? new Set(), portraitOf(object, known));
    if (orders.subjects[index]?.changes[number]?.type === 'Delete') continue;
    const isSeen = known.some((one) => one.number === number && shows(object, one));
    if (!isSeen) unseen[index]?.add(number);
  }
}

/** Whether nothing of it is left. */
async function undoOne(running: Running, number: number, request: string): Promise<boolean> {
  const { stage, name, standing } = running;
  const subjects = subjectsOf(running, number);
  if (subjects.length === 0) return true;
  running.requests += 1;
  const before = await portraits(running);
  const { status, phase } = await answered(stage, `${name}-t${number}`, `tx.janus.io/${request}`, String(running.requests));
  const after = await portraits(running);
  for (const [change, index] of subjects.entries())
    await judge(running, {
      number,
      index,
      before: before[index] ?? '',
      after: after[index] ?? '',
      item: itemsOf(status)[change],
    });
  const isWhole = subjects.every((index) => standing[index]?.has(number) !== true);
  if ((phase === 'RolledBack') !== isWhole) throw new Error(`Transaction ${number} is ${phase}: ${textAt(status, 'message')}`);
  return isWhole;
}

async function judge(running: Running, seen: Seen): Promise<void> {
  complain(isUndone(seen.item) ? await complaintsOfUndone(running, seen) : complaintsOfLeft(running, seen));
}

/** The end in which a request is answered: until then it may have ended before. */
async function answered(stage: Stage, name: string, annotation: string, value: string): Promise<Stepped> {
  // This test checks the result of each item: the whole decision is that of test/generated/histories.test.ts.
  await stage.annotate(name, { [annotation]: value, ...partial });
  return stepTo(
    stage,
    name,
    `${name} to answer ${annotation}`,
    ({ status }) => textAt(status, 'handledAnnotations', annotation) === value && conditionOf(status, 'Finished') === 'True',
  );
}

interface Seen {
  readonly number: number;
  readonly index: number;
  readonly before: string;
  readonly after: string;
  readonly item: Json | undefined;
}

async function complaintsOfUndone(running: Running, { number, index, after }: Seen): Promise<readonly string[]> {
  const standing = running.standing[index] ?? new Set();
  standing.delete(number);
  if (isUnderUnseen(running, index)) return [];
  const expected = await running.expected.of(index, standing);
  const which = `object ${index}, Transaction ${number} undone, [${[...standing]}] standing`;
  if (expected === undefined) return [`${which}: these cannot stand without it; found ${after}`];
  return expected === after ? [] : [`${which}: found ${after}\nexpected ${expected}`];
}

// A known limit (docs/guarantees.md): the engine undoes a change although such a later change exists.
function isUnderUnseen({ orders, standing, unseen }: Running, index: number): boolean {
  const changes = orders.subjects[index]?.changes ?? [];
  const undone = changes.flatMap((planned, number) =>
    planned === undefined || standing[index]?.has(number) === true ? [] : [number],
  );
  return undone.some((number) => [...(unseen[index] ?? [])].some((other) => other > number && standing[index]?.has(other)));
}

function complaintsOfLeft({ known, standing }: Running, { number, index, before, after, item }: Seen): readonly string[] {
  const message = textAt(item, 'error', 'message') ?? '';
  const which = `object ${index}, Transaction ${number} left (${message})`;
  const named = namedIn(message, known).filter((other) => other !== number && standing[index]?.has(other) === true);
  return [
    ...(named.length === 0 ? [`${which}: it names none of the others that stand, [${[...(standing[index] ?? [])]}]`] : []),
    ...(before === after ? [] : [`${which}: the object was changed: ${after}\nwas ${before}`]),
  ];
}

async function lastWords({ stage, known }: Running): Promise<string> {
  const messages = known.map(async ({ name }) => textAt(statusOf(await stage.read(name)), 'message') ?? '');
  return (await Promise.all(messages)).join('\n');
}

/** As a person who reads the conflicts would: the last Transaction first, until all are undone. */
async function undoTheRest(running: Running): Promise<void> {
  const left = (): readonly number[] =>
    running.known.map(({ number }) => number).filter((number) => running.standing.some((set) => set.has(number)));
  for (let round = 0; left().length > 0; round += 1) {
    if (round > running.known.length) throw new Error(`[${left()}] cannot be undone, in any order: ${await lastWords(running)}`);
    for (const number of left().toReversed()) await undoOne(running, number, 'retry-rollback');
  }
}
