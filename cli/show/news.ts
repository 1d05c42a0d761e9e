// What a pipe or a log gets of a Transaction: a line for each change whose state has changed, and few lines about the Transaction. Pure.
import { isQuiet, progressOf } from './progress.ts';
import { isSaidByGates, phaseWords } from './tree.ts';
import type { ChangeView, TransactionView } from './view.ts';
import { amount } from './words.ts';

/** `before` is undefined at the first state. */
export function newsOf(now: TransactionView, before: TransactionView | undefined): readonly string[] {
  const isUndoing = now.phase === 'RollingBack' && before !== undefined && before.phase !== 'RollingBack';
  const found = now.changes.flatMap((change, index) => newsOfChange({ now, change, before, index }));
  const quiet = Map.groupBy(
    found.filter((one) => one.isQuiet),
    ({ what }) => what,
  );
  const changes = [
    ...found.filter((one) => !one.isQuiet).map(({ object, what }) => `${object} ${what}`),
    ...[...quiet].map(([what, all]) => `${all.length === 1 ? all[0]?.object : amount(all.length, 'object')} ${what}`),
  ];
  const why = now.reason === '' ? '' : ` (${now.reason})`;
  return isUndoing ? [`${now.name} ${phaseWords(now.phase)}${why}`, ...changes] : changes;
}

/** They follow from the others, and pass at once. */
const silent = ['Waiting', 'Prepared', 'Applying', 'Restoring', 'Skipped'];

interface Moved {
  readonly now: TransactionView;
  readonly before: TransactionView | undefined;
  readonly change: ChangeView;
  readonly index: number;
}

interface News {
  readonly object: string;
  readonly what: string;
  readonly isQuiet: boolean;
}

function newsOfChange({ now, before, change, index }: Moved): readonly News[] {
  const earlier = before?.changes[index];
  const key = keyOf(change, now);
  if (key === undefined || (before !== undefined && earlier !== undefined && key === keyOf(earlier, before))) return [];
  const { operation, state, detail } = progressOf(change, now);
  const isPlain = ['applied', 'as before'].includes(state);
  // The end of the command has the cause.
  const why = change.error !== undefined && change.error.message === now.cause ? change.error.reason : detail;
  const what = `${operation}${isPlain ? '' : `, ${state}`}${why === undefined ? '' : `: ${why}`}`;
  return [{ object: `${change.kind} ${change.name}`, what, isQuiet: isQuiet({ operation }) }];
}

// The first finding of a gate is news, later ones are not: they may change with each poll.
function keyOf(change: ChangeView, view: TransactionView): string | undefined {
  const { operation, state, detail } = progressOf(change, view);
  if (silent.includes(change.state) || (state === 'to be undone' && change.error === undefined)) return undefined;
  return [operation, state, change.error?.reason, state === 'not ready' && detail !== undefined].join('|');
}

/** Why a Transaction that does not move waits, in its own words; about the change in hand, if there is one. */
interface Wait {
  readonly line: string;
  /** The index of the change; undefined if the Transaction as a whole waits. */
  readonly index: number | undefined;
}

/** Undefined if the lines of changes have said it, or the end says it. */
export function waitOf(view: TransactionView): Wait | undefined {
  const isOfTheEnd = view.cause !== '' && view.message.includes(view.cause);
  if (view.message === '' || isOfTheEnd || isSaidByGates(view)) return undefined;
  const found = view.changes.findIndex(({ state }) => ['Applying', 'Restoring'].includes(state));
  const change = view.changes[found];
  if (change === undefined) return { line: `${view.name} ${phaseWords(view.phase)}: ${view.message}`, index: undefined };
  return { line: `${change.kind} ${change.name}: ${view.message}`, index: found };
}
