// I1 to I18: what must hold after every run, whatever went wrong in it. Each returns its violations in words.
import { at, canonicalJson, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import {
  allTargets,
  bears,
  configMapKey,
  type Evidence,
  endOf,
  itemsOf,
  managersIn,
  type Target,
  targetsOf,
  transactionsOf,
} from './evidence.ts';
import { authority } from './invariants-of-authority.ts';
import { committedWithGates, nothingBehindGates } from './invariants-of-gates.ts';
import { secrets, triggers } from './invariants-of-secrecy.ts';
import { conditionsAgree, versionsRise } from './invariants-of-status.ts';
import {
  announcedInOrder,
  exclusion,
  footprint,
  identities,
  oneWriteEach,
  preconditions,
  secondHalvesAnnounced,
  snapshotFirst,
} from './invariants-of-writes.ts';
import { portrait } from './run.ts';

type Invariant = (evidence: Evidence) => readonly string[];

/** Committed: every change is applied. RolledBack: everything is as before. Otherwise the items are true. */
const outcome: Invariant = (evidence) => [...endsAsItMust(evidence), ...objectsAreTrue(evidence)];

const endsAsItMust: Invariant = (evidence) =>
  [...evidence.ends].flatMap(([name, status]) => {
    const sleeps = evidence.story.asleep?.(evidence.names).includes(name) === true;
    if (sleeps && textAt(status, 'phase') === undefined) return [];
    const [is, wanted] = [status === undefined ? 'gone' : textAt(status, 'phase'), endOf(evidence, name)];
    return is === wanted ? [] : [`${name} ends as ${is}, not as ${wanted}: ${wordsOf(status)}`];
  });

/** The message of the status, and why a requested undo was refused. */
function wordsOf(status: JsonObject | undefined): string {
  return [textAt(status, 'message'), textAt(status, 'undo', 'message')].filter((text) => text !== undefined).join('; ');
}

const objectsAreTrue: Invariant = (evidence) => {
  const given = evidence.story.content?.(evidence.names);
  if (evidence.story.id === 'contention') return oneOrder(evidence);
  if (evidence.story.isShared === true) return patchesAreTrue(evidence);
  return allTargets(evidence).flatMap((target) =>
    given?.has(target.name) === true ? hasContent(evidence, target, given.get(target.name)) : isAsBefore(evidence, target),
  );
};

export function hasContent({ after }: Evidence, { key }: Target, expected: JsonObject | undefined): readonly string[] {
  const is = after.get(key);
  const isRight = expected === undefined ? is === undefined : is !== undefined && holds(expected, is);
  return isRight ? [] : [`${key} is ${canonicalJson(is ?? null)}, expected ${canonicalJson(expected ?? null)}`];
}

/** Whether the object has all of it; `data` of ConfigMaps and Secrets must have no more. */
function holds(expected: JsonObject, is: JsonObject): boolean {
  return Object.entries(expected).every(([key, value]) => {
    const found: Json = is[key] ?? null;
    return isObject(value) && isObject(found) && key !== 'data'
      ? holds(value, found)
      : canonicalJson(found) === canonicalJson(value);
  });
}

/** Only a deleted object may come back with another identity. */
export function isAsBefore(evidence: Evidence, { key }: Target): readonly string[] {
  const targets = transactionsOf(evidence).flatMap((transaction) => targetsOf(evidence, transaction));
  const isNew =
    targets.some((target) => target.key === key && (target.type === 'Delete' || target.recreates)) &&
    uidOf(evidence.before.get(key)) !== uidOf(evidence.after.get(key));
  const [was, is] = [evidence.before, evidence.after].map((objects) => JSON.stringify(portrait(objects.get(key), isNew)));
  return was === is ? [] : [`${key} is not as it was: ${is}, expected ${was}`];
}

function uidOf(object: JsonObject | undefined): string | undefined {
  return textAt(object, 'metadata', 'uid');
}

/** A Transaction that only patches reports its end truthfully, whatever others have written. */
export function patchesAreTrue(evidence: Evidence): readonly string[] {
  return [...evidence.ends].flatMap(([transaction, status]) =>
    patchesOf(evidence, transaction)
      .filter((_, index) => itemsOf(status)[index]?.left !== true)
      .filter((patched) => isThere(evidence, patched) !== (textAt(status, 'phase') === 'Committed'))
      .filter((patched) => !isOverwritten(evidence, transaction, patched))
      .map(({ key }) => `${key} does not agree with ${transaction}, which is ${textAt(status, 'phase')}`),
  );
}

/** By another Transaction that sets these fields to other values, and has not taken that back. */
function isOverwritten(evidence: Evidence, transaction: string, { key, content }: Patched): boolean {
  return [...evidence.ends].some(([other, status]) => {
    const stays = (index: number): boolean => textAt(status, 'phase') === 'Committed' || itemsOf(status)[index]?.left === true;
    const isIts = (one: Patched): boolean => one.key === key && isThere(evidence, one) && differs(one.content, content);
    return other !== transaction && patchesOf(evidence, other).some((one, index) => stays(index) && isIts(one));
  });
}

function differs(left: JsonObject, right: JsonObject): boolean {
  return Object.keys(left).some((key) => {
    const [one, other] = [left[key], right[key]];
    if (one === undefined || other === undefined) return false;
    return isObject(one) && isObject(other) ? differs(one, other) : one !== other;
  });
}

function isThere({ after }: Evidence, { key, content }: Patched): boolean {
  const object = after.get(key);
  return object !== undefined && contains(object, content);
}

interface Patched {
  readonly key: string;
  readonly content: JsonObject;
}

function patchesOf(evidence: Evidence, transaction: string): readonly Patched[] {
  const changes = evidence.story.transactions(evidence.names)[transaction] ?? [];
  return targetsOf(evidence, transaction).map(({ key }, index) => ({
    key,
    content: at(changes[index], 'content') as JsonObject,
  }));
}

function contains(object: JsonObject, content: JsonObject): boolean {
  return Object.entries(content).every(([key, value]) => {
    const found: Json = object[key] ?? null;
    return isObject(value) && isObject(found) ? contains(found, value) : found === value;
  });
}

// Two Transactions set one field of the same two objects: one of them must have written both last.
function oneOrder({ after, names }: Evidence): readonly string[] {
  const [first, second] = [names.b, names.c].map((name) => textAt(after.get(configMapKey(names, name)), 'data', 'last'));
  return first !== undefined && first === second ? [] : [`${names.b} was written last by ${first}, ${names.c} by ${second}`];
}

/** Once the faults stop, the run ends soon; after that nothing is written and no call is requested. */
const comesToRest: Invariant = ({ story, names, struckAt, hookCalls, writesAtRest }) => {
  const changes = Object.values(story.transactions(names)).flat().length;
  const after = hookCalls.filter((call) => call.portCalls > struckAt && call.resyncAfterSeconds === 0);
  const most = 2 * changes + 10 * Object.keys(story.transactions(names)).length;
  const many = after.length > most ? [`${after.length} calls after the last fault, at most ${most} expected`] : [];
  return [...many, ...writesAtRest.map((what) => `at rest: ${what}`)];
};

/** After the Transaction is deleted, no trace of the engine is left. */
export const nothingLeft: Invariant = ({ leftovers }) => leftovers;

/** After a rollback no field manager of the engine is left. */
const noTrace: Invariant = (evidence) =>
  evidence.story.end === 'Committed'
    ? []
    : allTargets(evidence)
        .filter(({ key }) => !leftIn(evidence).has(key))
        .flatMap(({ key }) =>
          managersIn(evidence.after.get(key))
            .filter((manager) => manager.startsWith('janus-'))
            .map((manager) => `${key} still has the field manager ${manager}`),
        );

/** Changes that could not be undone, and are reported as left, are still ours; so are all changes if the undo was refused as a whole. */
function leftIn(evidence: Evidence): ReadonlySet<string> {
  return new Set(
    [...evidence.ends].flatMap(([transaction, status]) => {
      const isRefused = textAt(status, 'undo', 'reason') === 'UndoRefused';
      const left = itemsOf(status).map((item) => isRefused || item.left === true);
      return left.flatMap((isLeft, index) => (isLeft ? [targetsOf(evidence, transaction)[index]?.key ?? ''] : []));
    }),
  );
}

/** Each item is true about its change. */
const itemsAreTrue: Invariant = (evidence) =>
  [...evidence.ends].flatMap(([transaction, status]) =>
    itemsOf(status).flatMap((item, index) => {
      const key = targetsOf(evidence, transaction)[index]?.key ?? '';
      const isLeftBehind = bears(evidence, transaction, evidence.after.get(key));
      return item.rolledBack === true && isLeftBehind ? [`${key} is said to be rolled back, and is still ours`] : [];
    }),
  );

export const invariants: Readonly<Record<string, Invariant>> = {
  'I1 outcome': outcome,
  'I1 items': itemsAreTrue,
  'I2 snapshot first': snapshotFirst,
  'I3 preconditions': preconditions,
  'I4 one write each': oneWriteEach,
  'I5 footprint': footprint,
  'I6 exclusion': exclusion,
  'I7 versions': versionsRise,
  'I8 announced, in order': announcedInOrder,
  'I8 second halves announced': secondHalvesAnnounced,
  'I9 rest': comesToRest,
  'I10 nothing left': nothingLeft,
  'I11 identities': identities,
  'I12 secrets': secrets,
  'I13 trigger': triggers,
  'I14 no trace': noTrace,
  'I15 conditions': conditionsAgree,
  'I16 authority': authority,
  'I17 gates in order': nothingBehindGates,
  'I18 committed gates': committedWithGates,
};

/** All violations, each named by its invariant. */
export function violations(evidence: Evidence): readonly string[] {
  return Object.entries(invariants).flatMap(([name, evaluate]) => evaluate(evidence).map((text) => `${name}: ${text}`));
}
