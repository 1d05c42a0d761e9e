// A Transaction on a screen: a head, then a line for each change, what failed or is not ready first. Equal changes that are done or
// still to come share a line. The lines fit the columns and rows of the terminal. Pure.
import { clockOf } from './age.ts';
import { countsOf, isQuiet, type Progress, progressOf, ranks } from './progress.ts';
import { cutTo, padTo, paint, phaseFormats, type Style, widthOf, wrapTo } from './style.ts';
import type { TransactionView } from './view.ts';
import { amount } from './words.ts';

interface Screen {
  readonly columns: number;
  /** The maximum of lines; undefined for no limit. */
  readonly rows?: number;
}

interface Drawn {
  readonly view: TransactionView;
  /** ms since the operation began. */
  readonly elapsed: number;
  /** Whether the message of the Transaction is shown: while it does not move. */
  readonly isHeldUp: boolean;
}

interface Row extends Progress {
  /** `Deployment web`, or `25 Services`. */
  readonly label: string;
  readonly size: number;
}

export function treeOf(drawn: Drawn, { columns, rows = Number.POSITIVE_INFINITY }: Screen, style: Style): readonly string[] {
  const { view } = drawn;
  const most = Math.min(mostMessageLines, Math.floor(rows * messageShare));
  const message = drawn.isHeldUp ? messageLines(view, { columns, rows: most }, style) : [];
  const room = Math.max(1, rows - 1 - message.length);
  return [headOf(drawn, columns, style), ...linesOf(fitting(rowsOf(view), room), columns, style), ...message].slice(0, rows);
}

/** The message takes at most so many lines, and this share of the screen: changes need the others. */
const mostMessageLines = 3;
const messageShare = 0.2;

function messageLines(view: TransactionView, { columns, rows }: Required<Screen>, style: Style): readonly string[] {
  if (isSaidByGates(view)) return [];
  const lines = wrapTo(columns - 2, view.message);
  const shown = lines.slice(0, rows);
  const rest = lines.slice(rows).join(' ');
  if (rest !== '' && rows > 0) shown.push(cutTo(columns - 2, `${shown.pop()} ${rest}`, style));
  return shown.map((line) => `  ${line}`);
}

/** Whether the line of a change that is not ready has what the message of the Transaction says. */
export function isSaidByGates({ changes, message }: TransactionView): boolean {
  const open = changes.flatMap(({ state, gate }) => (state === 'Applied' && gate?.state === 'notReady' ? [gate.found] : []));
  return open.length > 0 && open.some((found) => found === undefined || message.includes(found));
}

function rowsOf(view: TransactionView): readonly Row[] {
  return view.changes
    .map((change): Row => ({ ...progressOf(change, view), label: `${change.kind} ${change.name}`.trim(), size: 1 }))
    .toSorted((left, right) => left.rank - right.rank);
}

/** Up to so many equal changes have a line each. */
const fewEqual = 3;

/** The rows as they fit: changes that are equal in kind, operation and state share one, then changes of all kinds. */
function fitting(rows: readonly Row[], room: number): readonly Row[] {
  const ways = [() => folded(rows, kindOf, fewEqual), () => folded(rows, kindOf, 1), () => folded(rows, () => 'change', 1)];
  for (const way of ways) {
    const found = way();
    if (found.length <= room) return found;
  }
  const most = ways[2]?.() ?? rows;
  return most.slice(0, Math.max(0, room - 1)).concat(restOf(most.slice(Math.max(0, room - 1))));
}

const kindOf = ({ label }: Row): string => label.replace(/ .*/, '');

/** Rows of more than `few` equal changes share one, and those whose content stays. What must be seen has a row of its own. */
function folded(rows: readonly Row[], nounOf: (row: Row) => string, few: number): readonly Row[] {
  const nounIn = (row: Row): string => (isQuiet(row) ? 'object' : nounOf(row));
  const fewOf = (row: Row): number => (isQuiet(row) ? 1 : few);
  const keyOf = (row: Row): string =>
    [nounIn(row), row.operation, ...(isQuiet(row) ? [] : [row.state, row.detail ?? ''])].join('|');
  const isFoldable = ({ rank }: Row): boolean => rank > ranks.notReady;
  const groups = Map.groupBy(rows.filter(isFoldable), keyOf);
  return rows.flatMap((row) => {
    const group = isFoldable(row) ? (groups.get(keyOf(row)) ?? []) : [];
    if (group.length <= fewOf(row)) return [row];
    return group[0] === row ? [joint(group, row, nounIn(row))] : [];
  });
}

function joint(group: readonly Row[], row: Row, noun: string): Row {
  const state = group.every((one) => one.state === row.state) ? row.state : statesIn(group);
  return { ...row, label: amount(group.length, noun), state, size: group.length };
}

const sizeOf = (rows: readonly Row[]): number => rows.reduce((sum, row) => sum + row.size, 0);

/** `2 ready, 3 applied`. */
function statesIn(rows: readonly Row[]): string {
  return [...Map.groupBy(rows, ({ state }) => state)].map(([state, some]) => `${sizeOf(some)} ${state}`).join(', ');
}

/** One row for all rows without room. */
function restOf(rows: readonly Row[]): readonly Row[] {
  const [first] = rows;
  if (first === undefined) return [];
  const { detail: _each, ...row } = first;
  return [{ ...row, label: `${sizeOf(rows)} more`, operation: '', state: statesIn(rows), size: sizeOf(rows) }];
}

/** The columns of labels take at most this share of the screen, so that there is room for the reason. */
const labelShare = 0.45;

function linesOf(rows: readonly Row[], columns: number, style: Style): readonly string[] {
  const widest = (texts: readonly string[]): number => texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);
  const most = Number.isFinite(columns) ? Math.floor(columns * labelShare) : Number.POSITIVE_INFINITY;
  const label = Math.min(most, widest(rows.map((row) => row.label)));
  const operation = widest(rows.map((row) => row.operation));
  return rows.map((row) => {
    const { sign, plain, format } = row.sign;
    const named = padTo(label, cutTo(label, row.label, style));
    const why = row.detail === undefined ? '' : `: ${row.detail}`;
    const text = `${named}   ${padTo(operation, row.operation)}   ${row.state}${why}`.trimEnd();
    return ` ${paint(style, format, style.unicode ? sign : plain)} ${cutTo(columns - 3, text, style)}`;
  });
}

/** The phase as a reader says it: `rolling back`. */
export function phaseWords(phase: string): string {
  return phase.replaceAll(/\B[A-Z]/g, ' $&').toLowerCase();
}

function headOf({ view, elapsed }: Drawn, columns: number, style: Style): string {
  const dot = style.unicode ? ' · ' : ' - ';
  const phase = phaseWords(view.phase);
  const rest = [`${phase} ${progressIn(view)}`, readyIn(view), timeIn(view, elapsed)].filter((part) => part !== '').join(dot);
  const place = cutTo(Math.max(8, columns - widthOf(rest) - widthOf(dot)), `${view.name}${dot}${view.namespace}`, style);
  const cut = cutTo(columns, `${place}${dot}${rest}`, style);
  const at = place.length + dot.length;
  return (
    cut.slice(0, at) +
    paint(style, phaseFormats[view.phase] ?? 'cyan', cut.slice(at, at + phase.length)) +
    cut.slice(at + phase.length)
  );
}

/** `20/26 applied`. */
export function progressIn(view: TransactionView): string {
  const { all, applied, undone } = countsOf(view);
  return ['RollingBack', 'RolledBack'].includes(view.phase) ? `${undone}/${all} undone` : `${applied}/${all} applied`;
}

function readyIn(view: TransactionView): string {
  const { gated, ready } = countsOf(view);
  return gated === 0 || !['Committing', 'Committed'].includes(view.phase) ? '' : `ready ${ready}/${gated}`;
}

// The time that a rollback may take begins with the rollback, not with the release whose time is shown.
function timeIn({ phase, timing: { operation, began, until } }: TransactionView, elapsed: number): string {
  const isBack = phase === 'RollingBack' && operation === 'release';
  const allowed = isBack || began === undefined || until === undefined ? '' : ` of ${clockOf(until - began)}`;
  return `${clockOf(elapsed)}${allowed}`;
}
