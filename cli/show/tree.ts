// A Transaction as a tree: one line for the Transaction, and one line for each change. The tree fits the columns and rows of the
// terminal.
import { clockOf } from './age.ts';
import { cutTo, paint, phaseFormats, type Style } from './style.ts';
import type { ChangeView, TransactionView } from './view.ts';

interface Screen {
  readonly columns: number;
  /** The maximum of lines; undefined for no limit. */
  readonly rows?: number;
}

interface Drawn {
  readonly view: TransactionView;
  /** ms since the Transaction began, or since the command follows it. */
  readonly elapsed: number;
  /** ms from the start to the time at which the command saw each change in its state; by index. */
  readonly reached?: ReadonlyMap<number, number>;
}

type Format = Parameters<typeof paint>[1];
interface Look {
  readonly sign: string;
  readonly plain: string;
  readonly format: Format;
}

const waiting: Look = { sign: '·', plain: '.', format: 'dim' };
const looks: Readonly<Record<string, Look>> = {
  Applying: { sign: '→', plain: '>', format: 'cyan' },
  Applied: { sign: '✓', plain: '+', format: 'green' },
  Failed: { sign: '✗', plain: 'x', format: 'red' },
  Restoring: { sign: '↶', plain: '<', format: 'yellow' },
  Restored: { sign: '↺', plain: '~', format: 'yellow' },
  Kept: { sign: '=', plain: '=', format: 'yellow' },
  NotRestored: { sign: '✗', plain: 'x', format: 'red' },
};

/** The most important state has the lowest number. */
const urgency: Readonly<Record<string, number>> = { Failed: 0, NotRestored: 0, Applying: 1, Restoring: 1 };

export function treeOf(drawn: Drawn, screen: Screen, style: Style): readonly string[] {
  const { view } = drawn;
  const room = screen.rows === undefined ? Number.POSITIVE_INFINITY : Math.max(1, screen.rows - 1);
  const shown = shownOf(view.changes, room);
  const hidden = view.changes.length - shown.length;
  const lines = shown.map((index, place) => {
    const isLast = place === shown.length - 1 && hidden === 0;
    return lineOf(drawn, index, { isLast, widths: widthsOf(view.changes, shown), screen, style });
  });
  return [headOf(drawn, screen, style), ...lines, ...(hidden > 0 ? [restOf(view.changes, shown, style)] : [])];
}

/** Indexes of the changes to show, in their order. If not all fit, changes in progress, failed and not restored come first. */
function shownOf(changes: readonly ChangeView[], room: number): readonly number[] {
  const all = changes.map((_, index) => index);
  if (all.length <= room) return all;
  const rank = (index: number): number => rankOf(changes[index], index, changes);
  return all
    .toSorted((left, right) => rank(left) - rank(right) || left - right)
    .slice(0, Math.max(0, room - 1))
    .toSorted((left, right) => left - right);
}

function rankOf(change: ChangeView | undefined, index: number, changes: readonly ChangeView[]): number {
  const own = urgency[change?.state ?? ''];
  if (own !== undefined) return own;
  if (change?.note !== undefined) return 2;
  // Readers want to see the next change, not a change that was done long ago.
  const before = changes[index - 1];
  return change?.state !== before?.state ? 3 : 4;
}

function restOf(changes: readonly ChangeView[], shown: readonly number[], style: Style): string {
  const rest = changes.filter((_, index) => !shown.includes(index));
  const counts = [...Map.groupBy(rest, ({ state }) => state)].map(
    ([state, { length }]) => `${length} more ${state.toLowerCase()}`,
  );
  return `${style.unicode ? '└─ …' : '`- ...'} ${counts.join(', ')}`;
}

function headOf({ view, elapsed }: Drawn, { columns }: Screen, style: Style): string {
  const { name, phase, done } = view;
  const start = `${name}  `;
  const rest = `${phase}  ${done}  ${clockOf(elapsed)}   ${view.message}`;
  const cut = cutTo(columns, `${start}${rest}`, style).slice(start.length);
  const painted = cut.startsWith(phase) ? paint(style, phaseFormats[phase] ?? 'cyan', phase) + cut.slice(phase.length) : cut;
  return cutTo(columns, start, style).slice(0, start.length) + painted;
}

interface Widths {
  readonly kind: number;
  readonly name: number;
}

function widthsOf(changes: readonly ChangeView[], shown: readonly number[]): Widths {
  const widest = (key: 'kind' | 'name', most: number): number =>
    Math.min(
      most,
      shown.reduce((widest, index) => Math.max(widest, changes[index]?.[key].length ?? 0), 0),
    );
  return { kind: widest('kind', 30), name: widest('name', 40) };
}

interface Place {
  readonly isLast: boolean;
  readonly widths: Widths;
  readonly screen: Screen;
  readonly style: Style;
}

function lineOf({ view, reached }: Drawn, index: number, { isLast, widths, screen, style }: Place): string {
  const change = view.changes[index];
  if (change === undefined) return '';
  const { sign, plain, format } = looks[change.state] ?? waiting;
  const branch = branchOf(isLast, style);
  const at = reached?.get(index);
  const named = `${change.kind.padEnd(widths.kind)} ${cutTo(widths.name, change.name, style).padEnd(widths.name)}`;
  const rest = [change.state.padEnd(11), at === undefined ? '' : clockOf(at), whyOf(change)].join('  ').trimEnd();
  const text = cutTo(screen.columns - branch.length - 2, `${named}  ${rest}`, style);
  return `${branch}${paint(style, format, style.unicode ? sign : plain)} ${text}`;
}

function branchOf(isLast: boolean, { unicode }: Style): string {
  if (!unicode) return isLast ? '`- ' : '|- ';
  return isLast ? '└─ ' : '├─ ';
}

function whyOf({ error, note }: ChangeView): string {
  return error === undefined ? (note ?? '') : `${error.reason}: ${error.message}`;
}
