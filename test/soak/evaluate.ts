// What must hold after a seed: the invariants of the fault campaign, and rules for many writers of shared objects. All of it is
// computed from the audit log and the objects, without the engine's code.
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Evidence, isSnapshot, itemsOf, targetsOf, transactionsOf } from '../faults/evidence.ts';
import { nothingLeft } from '../faults/invariants.ts';
import { secrets, triggers } from '../faults/invariants-of-secrecy.ts';
import { conditionsAgree, versionsRise } from '../faults/invariants-of-status.ts';
import { footprint, identities, preconditions, snapshotFirst } from '../faults/invariants-of-writes.ts';
import type { Leaves } from '../generated/oracle.ts';
import { type History, historiesOf, holderIdentity, type Written } from './history.ts';

type Evaluate = (evidence: Evidence, histories: readonly History[]) => readonly string[];

const evaluators: Readonly<Record<string, Evaluate>> = {
  'I1 outcome': endsAreTrue,
  'I1 undo': undoIsExact,
  'I2 snapshot first': snapshotFirst,
  'I3 preconditions': preconditions,
  'I3 lost update': nothingOverwritten,
  'I4 one write each': oneWriteEach,
  'I5 footprint': footprint,
  'I6 exclusion': lockIsHeld,
  'I7 versions': versionsRise,
  'I9 rest': ({ writesAtRest }) => writesAtRest.map((what) => `at rest: ${what}`),
  'I10 nothing left': nothingLeft,
  'I11 identities': identities,
  'I12 secrets': secrets,
  'I13 trigger': triggers,
  'I14 no trace': noTrace,
  'I15 conditions': conditionsAgree,
};

/** All violations, each named by its invariant. */
export function evaluateSoak(evidence: Evidence): readonly string[] {
  const histories = historiesOf(evidence);
  return Object.entries(evaluators).flatMap(([name, evaluate]) =>
    evaluate(evidence, histories).map((text) => `${name}: ${text}`),
  );
}

/** The two writes of one Transaction to one object that changed its content. */
function pairsOf(evidence: Evidence, { writes, target }: History) {
  return transactionsOf(evidence)
    .filter((transaction) => targetsOf(evidence, transaction).some(({ key }) => key === target.key))
    .map((transaction) => {
      const own = writes.filter(({ by }) => by === transaction);
      const [forward, backward] = [own.filter((write) => !write.isRestoring), own.filter((write) => write.isRestoring)];
      return { transaction, forward, backward };
    });
}

function oneWriteEach(evidence: Evidence, histories: readonly History[]): readonly string[] {
  return histories.flatMap((history) =>
    pairsOf(evidence, history)
      .filter(({ forward, backward }) => forward.length > 1 || backward.length > 1 + deletedAgain(history, backward))
      .map(
        ({ transaction, forward, backward }) =>
          `${history.target.key} was changed ${forward.length} times and restored ${backward.length} times by ${transaction}: ${toldOf(history)}`,
      ),
  );
}

/**
 * How often a stranger deleted what an undo had recreated: a deletion before a status says that it was recreated looks like the
 * Transaction's own Delete, and the undo recreates it once more.
 */
function deletedAgain({ writes }: History, backward: readonly Written[]): number {
  const wereDeleted = backward.slice(1).filter((write, index) => {
    const since = writes.slice(writes.indexOf(backward[index] as Written), writes.indexOf(write));
    return since.some(({ actor, verb, after }) => actor === 'stranger' && verb === 'delete' && after === undefined);
  });
  return wereDeleted.length;
}

/** All writes in order: a seed that fails once may pass when it is tried again. */
function toldOf({ writes }: History): string {
  return writes
    .map(({ verb, actor, by, isRestoring, before, after }) => {
      const paths = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]);
      const moved = [...paths].filter((path) => valueAt(before, path) !== valueAt(after, path)).slice(0, 3);
      return `${isRestoring ? 'restoring ' : ''}${verb} by ${by ?? actor} (${after === undefined ? 'gone' : moved.join(' ')})`;
    })
    .join(', ');
}

function lockIsHeld(evidence: Evidence, histories: readonly History[]): readonly string[] {
  return histories.flatMap(({ target, writes }) =>
    writes
      .filter(({ by, holder }) => by !== undefined && holder !== holderIdentity(evidence, by))
      .map(({ verb, by, holder }) => `${verb} of ${target.key} by ${by} while its lock was held by ${holder ?? 'nobody'}`),
  );
}

/** The undo restores the prior state with later changes of other writers, both at every single field. */
function undoIsExact(evidence: Evidence, histories: readonly History[]): readonly string[] {
  return histories.flatMap((history) =>
    pairsOf(evidence, history).flatMap(({ transaction, forward: [made], backward: [undone] }) => {
      if (undone === undefined) return [];
      const change = made ?? deletedByOthers(evidence, history, transaction, undone);
      if (change === undefined)
        return [`${history.target.key} was restored by ${transaction}, which had not changed it: ${toldOf(history)}`];
      return inexact(change, undone).map((text) => `${history.target.key}${text}`);
    }),
  );
}

/**
 * A Delete counts as made if somebody else deletes the object between its snapshot and its turn (docs/guarantees.md): its undo
 * creates the object again, as it was in the snapshot.
 */
function deletedByOthers(
  evidence: Evidence,
  { target, writes }: History,
  transaction: string,
  undone: Written,
): Pick<Written, 'before' | 'after'> | undefined {
  const isDelete = targetsOf(evidence, transaction).some(({ key, type }) => key === target.key && type === 'Delete');
  const stored = storedAt(evidence, transaction);
  const since = writes.filter((write) => write.at > stored && write.at < undone.at);
  const last = since.at(-1);
  const isTheirs = last !== undefined && last.after === undefined && last.by !== transaction;
  return isDelete && stored >= 0 && isTheirs ? { before: since[0]?.before, after: undefined } : undefined;
}

function inexact(made: Pick<Written, 'before' | 'after'>, undone: Written): readonly string[] {
  const [prior, expected, live, restored] = [made.before, made.after, undone.before, undone.after];
  // Annotations of other writers are no reason to keep a created object.
  if (restored === undefined) {
    const isLost = (path: string): boolean => !isAnnotation(path) && valueAt(live, path) !== valueAt(expected, path);
    const lost = [...(live ?? [])].map(([path]) => path).filter(isLost);
    return prior === undefined ? lost.map((path) => `${path} was set by others, and deleted`) : [' was deleted by the undo'];
  }
  const paths = new Set([prior, expected, live, restored].flatMap((leaves) => [...(leaves?.keys() ?? [])]));
  return [...paths].flatMap((path) => {
    const isTheirs = live !== undefined && valueAt(live, path) !== valueAt(expected, path);
    const wanted = isTheirs ? valueAt(live, path) : valueAt(prior, path);
    const found = valueAt(restored, path);
    return found === wanted ? [] : [`${path} was restored to ${found}, expected ${wanted}`];
  });
}

function valueAt(leaves: Leaves | undefined, path: string): string | undefined {
  return leaves?.get(path);
}

function isAnnotation(path: string): boolean {
  return path.startsWith('.metadata.annotations.');
}

/** The position in the audit log at which the first snapshot of a Transaction was stored; -1 if none was. */
function storedAt({ events }: Evidence, transaction: string): number {
  const name = new RegExp(`^${transaction}-rollback-[0-9a-f]{20}$`);
  return events.findIndex((event) => isSnapshot(event) && event.verb === 'create' && event.code === 201 && name.test(event.name));
}

/** A change does not overwrite what somebody wrote after the snapshot was stored. */
function nothingOverwritten(evidence: Evidence, histories: readonly History[]): readonly string[] {
  return histories.flatMap((history) =>
    pairsOf(evidence, history).flatMap(({ transaction, forward: [made] }) => {
      if (made === undefined) return [];
      const stored = storedAt(evidence, transaction);
      const since = history.writes.filter((write) => write.at > stored && write.at < made.at);
      const [first] = since;
      if (stored < 0 || first === undefined) return [];
      return overwritten(first.before, made).map(
        (path) => `${history.target.key}${path} was ${valueAt(made.before, path)}, written after the snapshot of ${transaction}`,
      );
    }),
  );
}

// Annotations that an Update or a Delete does not name are not content.
function overwritten(snapshot: Leaves | undefined, made: Written): readonly string[] {
  const moved = new Set([...(snapshot?.keys() ?? []), ...(made.before?.keys() ?? [])]);
  return [...moved].filter(
    (path) =>
      valueAt(snapshot, path) !== valueAt(made.before, path) &&
      valueAt(made.after, path) !== valueAt(made.before, path) &&
      !(isAnnotation(path) && made.after === undefined),
  );
}

/** What the statuses say of each change agrees with the audit log. */
function endsAreTrue(evidence: Evidence, histories: readonly History[]): readonly string[] {
  return [...evidence.ends].flatMap(([transaction, status]) => {
    if (status === undefined) return [];
    const targets = targetsOf(evidence, transaction);
    return itemsOf(status).flatMap((item, index) => {
      const history = histories.find(({ target }) => target.key === targets[index]?.key);
      if (history === undefined) return [];
      const { forward, backward } = pairsOf(evidence, history).find((pair) => pair.transaction === transaction) ?? {
        forward: [],
        backward: [],
      };
      const wrong = wrongItem(textAt(status, 'phase') ?? '', item, { forward, backward, isAlone: isAlone(history, transaction) });
      return wrong === undefined ? [] : [`${transaction}, ${history.target.key}: ${wrong}`];
    });
  });
}

interface Seen {
  readonly forward: readonly Written[];
  readonly backward: readonly Written[];
  /** No other writer wrote to the object: if another one undid the change or made it before, the engine needs no write. */
  readonly isAlone: boolean;
}

function isAlone({ writes }: History, transaction: string): boolean {
  return writes.every(({ by }) => by === transaction);
}

function wrongItem(phase: string, item: JsonObject, { forward, backward, isAlone }: Seen): string | undefined {
  const [isMade, isUndone] = [forward.length > 0, backward.length > 0];
  const isThere = isMade && !isUndone && isAlone;
  const rules: readonly (readonly [phase: string, isBroken: boolean, text: string])[] = [
    ['Committed', !isMade && isAlone, 'it is said to be applied, and nothing was written'],
    ['Committed', isUndone, 'it is said to be applied, and was taken back'],
    ['RolledBack', isThere, 'it is said to be undone, and is still there'],
    ['Failed', isThere && at(item, 'left') !== true, 'it is not said to be left, and is still there'],
  ];
  if (!rules.some(([known]) => known === phase)) return `it rests in ${phase}`;
  return rules.find(([of, isBroken]) => of === phase && isBroken)?.[2];
}

/** No field manager of a Transaction remains on an object whose change it has undone. */
const fence = JSON.stringify({ 'f:metadata': { 'f:annotations': { 'f:tx.janus.io/fence': {} } } });

/**
 * Without an entry that is nothing but a fence. If two processes undo a change at once, one of them may leave a fence (docs/guarantees.md,
 * known limits); it goes with the Transaction.
 */
function managersOf(object: JsonObject | undefined, isOurs: (name: string) => boolean): readonly string[] {
  const entries = at(object, 'metadata', 'managedFields');
  return (isList(entries) ? entries : [])
    .filter((entry) => JSON.stringify(at(entry, 'fieldsV1')) !== fence)
    .map((entry) => textAt(entry, 'manager') ?? '')
    .filter(isOurs);
}

function noTrace(evidence: Evidence): readonly string[] {
  return [...evidence.ends].flatMap(([transaction, status]) => {
    const uid = (evidence.uids.get(transaction) ?? '').slice(0, 8);
    return itemsOf(status).flatMap((item, index) => {
      const key = targetsOf(evidence, transaction)[index]?.key ?? '';
      const left = managersOf(evidence.after.get(key), (name) => name.startsWith('janus-') && name.endsWith(`-${uid}`));
      return at(item, 'rolledBack') === true && left.length > 0 ? [`${key} has ${left.join(', ')} still`] : [];
    });
  });
}
