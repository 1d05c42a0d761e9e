// The effects of an undo, or why the engine refused it, as `status.undo` states them. Pure.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import type { Reason } from '../../hooks/transactions/model/reason.ts';
import {
  notedValue,
  type UndoAnswer,
  type UndoCounts,
  type UndoField,
  type UndoItem,
  type UndoItemVerdict,
  undoVerdicts,
} from '../../hooks/transactions/model/undo.ts';
import { documentOf } from './document.ts';
import { paint, type Style } from './style.ts';
import { tableOf } from './table.ts';
import { namesOf, undoesOf } from './undone.ts';
import type { RollbackView, TransactionView } from './view.ts';

export interface UndoPlan {
  readonly view: TransactionView;
  readonly answer: UndoAnswer;
  readonly later: UndoFirst;
  /** Whether the undo may leave objects that it cannot undo. */
  readonly isPartial: boolean;
}

/** Later Transactions on the objects of a Transaction. */
export interface UndoFirst {
  /** Their names, the first to undo first. */
  readonly undoFirst: readonly string[];
  /** The Transaction that stays if one rollback undoes all of them; empty for the state before the first. */
  readonly to?: string;
  /** The rollback that has undone the Transaction. */
  readonly undoneBy?: string;
}

interface Request {
  readonly name: string;
  readonly value: string;
}

/** The answer to that request, or to the request of another client that has replaced it. */
export function answerTo({ undo, requested }: TransactionView, { name, value }: Request): UndoAnswer | undefined {
  if (undo?.request.annotation !== name) return undefined;
  return [value, requested[name] ?? value].map(notedValue).includes(undo.request.value) ? undo : undefined;
}

/** Why the engine has refused the last undo of this Transaction. Empty if it has not. */
export function refusedUndo({ undo }: TransactionView): readonly string[] {
  return undo === undefined || undo.reason === 'Planned' ? [] : [`${undo.reason}: ${short(undo.message)}`];
}

/** Whether the engine has handled that request. If there is no answer, and the phase is unchanged, the request had no effect. */
export function isHandled({ handled }: TransactionView, { name, value }: Request): boolean {
  return handled[name] === notedValue(value);
}

/** Whether a later Transaction is in the way. */
export function hasLater({ items }: UndoAnswer): boolean {
  return items.some(({ reason }) => reason === 'LaterTransaction');
}

type UndoVerdict = 'nothing' | 'changes' | 'refused' | 'unknown';

export function verdictOf({ answer: { reason, counts }, isPartial }: Pick<UndoPlan, 'answer' | 'isPartial'>): UndoVerdict {
  const { blocked = 0, undecided = 0, recreate = 0, restore = 0 } = counts;
  if (reason !== 'Planned' || (blocked > 0 && !isPartial)) return 'refused';
  if (undecided > 0 && !isPartial) return 'unknown';
  return (counts.delete ?? 0) + recreate + restore > 0 ? 'changes' : 'nothing';
}

/** Exit codes of a plan: those of janus plan. */
export const planCodes: Readonly<Record<UndoVerdict, number>> = { nothing: 0, changes: 1, refused: 2, unknown: 3 };

/** `-o json` and `-o yaml` print this document: schemas/undo-plan.schema.json. */
export function undoDocument(plan: UndoPlan): JsonObject {
  const { view, answer, later, isPartial } = plan;
  const { reason, message, digest, items, moreItems = 0 } = answer;
  const counts = Object.fromEntries(undoVerdicts.map((verdict) => [verdict.toLowerCase(), countIn(answer.counts, verdict)]));
  const { namespace, name, rollback } = view;
  const what = rollback === undefined ? { name, undoFirst: later.undoFirst } : { to: rollback.to, undoes: undoesOf(view) };
  const document = { namespace, ...what, verdict: verdictOf(plan), partial: isPartial, reason, message, digest, counts };
  return documentOf('UndoPlan', { ...document, items, moreItems });
}

const looks = {
  Delete: { sign: '-', color: 'red' },
  Recreate: { sign: '+', color: 'green' },
  Restore: { sign: '~', color: 'yellow' },
  Nothing: { sign: ' ', color: 'dim' },
  Keep: { sign: '=', color: 'dim' },
  Blocked: { sign: '!', color: 'red' },
  Undecided: { sign: '?', color: 'red' },
} as const;

interface Setting {
  readonly style: Style;
  readonly program: string;
}

export function undoLines(plan: UndoPlan, setting: Setting & { readonly code: number }): readonly string[] {
  return [...planLines(plan, setting), `No object was changed.   exit ${setting.code}`];
}

/** The plan, without what the command does next. */
export function planLines(plan: UndoPlan, setting: Setting): readonly string[] {
  const { view, answer } = plan;
  const { items, counts, moreItems = 0, digest } = answer;
  return [
    headOf(view),
    '',
    ...(items.length === 0 ? [] : table(items, setting.style)),
    ...(moreItems > 0 ? [`  and ${moreItems} more`] : []),
    '',
    ...items.filter((item) => isDetailed(item) && !isNoteOnly(item)).flatMap((item) => [...detail(item, setting.style), '']),
    ...notes(items.filter(isNoteOnly)),
    ...verdictLines(plan, setting),
    countsLine(counts),
    `Digest ${digest}`,
  ];
}

function headOf(view: TransactionView): string {
  const { namespace, name, rollback } = view;
  if (rollback === undefined) return `Plan of the undo of ${namespace}/${name}`;
  return `Plan of the rollback to ${stateAfter(rollback, namespace)}: undoes ${undoesOf(view).join(', ')}`;
}

/** `acme/v5`, or `before the first release in acme`. */
function stateAfter({ to }: RollbackView, namespace: string): string {
  return to === '' ? `the state before the first release in namespace ${namespace}` : `${namespace}/${to}`;
}

/** Why the engine refused an undo, and what the user can do. */
export function refusalLines(plan: UndoPlan, setting: Setting): readonly string[] {
  const stopping = plan.answer.items.filter(isStopping);
  // The message of the engine repeats the first item. It names annotations, not the options of this program.
  if (stopping.length === 0) return verdictLines(plan, setting);
  return [...stopping.flatMap((item) => detail(item, setting.style)), ...remedies(plan, setting.program)];
}

function table(items: readonly UndoItem[], style: Style): readonly string[] {
  const rows = items.map(({ verdict, target, fields = [], moreFields = 0, reason = '' }) => {
    const changed = fields.length + moreFields;
    return [verdict.toLowerCase(), short(target), changed === 0 ? '' : String(changed), reason];
  });
  const [header = '', ...lines] = tableOf(['OP', 'OBJECT', 'FIELDS', 'REASON'], rows);
  const signed = lines.map((line, index) => {
    const { sign, color } = looks[items[index]?.verdict ?? 'Nothing'];
    return paint(style, color, `${sign} ${line}`);
  });
  return [`  ${header}`, ...signed];
}

const isStopping = ({ verdict }: UndoItem): boolean => verdict === 'Blocked' || verdict === 'Undecided';

function isDetailed({ fields = [], message = '' }: UndoItem): boolean {
  return fields.length > 0 || message !== '';
}

/** Whether the plan says of the object only what it may say of many. */
function isNoteOnly(item: UndoItem): boolean {
  const { fields = [], moreFields = 0, message = '' } = item;
  return !isStopping(item) && message !== '' && fields.length + moreFields === 0;
}

/** Each note once, with the objects that it is about. */
function notes(items: readonly UndoItem[]): readonly string[] {
  return [...Map.groupBy(items, ({ message = '' }) => message)].flatMap(([message, same]) => {
    const named = same.slice(0, mostNamed).map(({ target }) => short(target));
    const more = same.length > named.length ? `, and ${same.length - named.length} more` : '';
    return [`  ${named.join(', ')}${more}`, `    ${short(message)}`, ''];
  });
}

const mostNamed = 3;

function detail(item: UndoItem, style: Style): readonly string[] {
  const { verdict, target, reason, message = '', fields = [], moreFields = 0 } = item;
  const { sign, color } = looks[verdict];
  const why = reason === undefined ? '' : `  ${reason}`;
  return [
    paint(style, color, `${sign} ${short(target)}${why}`),
    ...(message === '' ? [] : [`    ${short(message)}`]),
    ...fields.map((field) => `    ${isStopping(item) ? conflictOf(field) : changeOf(field)}`),
    ...(moreFields > 0 ? [`    and ${moreFields} more fields`] : []),
  ];
}

const none = '(none)';

function changeOf({ path, before = none, released = none, now = released }: UndoField): string {
  return `${short(path)}   ${short(now)} -> ${short(before)}`;
}

function conflictOf({ path, manager, before = none, released = none, now = none }: UndoField): string {
  const who = manager === undefined ? '' : `, by ${short(manager)}`;
  return `${short(path)}   before ${short(before)}, released ${short(released)}, now ${short(now)}${who}`;
}

function verdictLines(plan: UndoPlan, { style, program }: Setting): readonly string[] {
  const verdict = verdictOf(plan);
  const heads = { nothing: '', changes: '', refused: 'It would be refused: ', unknown: 'Not all is known: ' };
  const { reason, message } = plan.answer;
  const line = reason === 'Planned' ? `${heads[verdict]}${short(message)}` : short(message);
  return [
    verdict === 'nothing' || verdict === 'changes' ? line : paint(style, 'red', line),
    ...(verdict === 'refused' || verdict === 'unknown' ? remedies(plan, program) : []),
  ].filter((line) => line !== '');
}

/** Reasons that `--overwrite` overrides: other clients have changed, replaced or deleted the object. */
export const overwritten: ReadonlySet<string> = new Set<Reason>([
  'RollbackConflict',
  'ForeignContent',
  'Recreated',
  'Replaced',
  'Gone',
]);

function remedies({ view, answer, later }: UndoPlan, program: string): readonly string[] {
  const { reason, items } = answer;
  const own = `${view.name} -n ${view.namespace}`;
  if (reason === 'PlanChanged') return [`  ${program} undo ${own} --plan   shows the plan as it is now.`];
  const { lines, isEnough } = laterLines(later, `${program} undo`, view);
  const isOfLater = ({ reason: one }: UndoItem): boolean => isEnough && one === 'LaterTransaction';
  const blocked = items.filter((item) => item.verdict === 'Blocked' && !isOfLater(item));
  const named = (some: readonly UndoItem[]) => some.map(({ index }) => view.changes[index]?.selector ?? '').join(',');
  const foreigners = blocked.filter((item) => isOverwritable(item, view));
  if (blocked.length === 0) return lines;
  const rest = view.rollback === undefined ? 'and ends as Failed with the others' : 'and leaves the others';
  return [
    ...lines,
    ...(foreigners.length === 0 ? [] : [`  --overwrite ${named(foreigners)}   overwrites what others wrote.`]),
    `  --keep ${named(blocked)}   leaves these objects, and undoes the others.`,
    `  --partial   undoes what it can, ${rest}.`,
  ];
}

/** `isEnough`: one command gets all later Transactions out of the way. */
function laterLines({ undoFirst, to, undoneBy }: UndoFirst, undo: string, { name, namespace }: TransactionView) {
  const place = `-n ${namespace}`;
  if (undoneBy !== undefined)
    return { lines: [`  It is undone by ${undoneBy}: ${undo} ${undoneBy} ${place}   brings it back.`], isEnough: true };
  if (to !== undefined)
    return {
      lines: [`  ${undo} ${name} ${place} --to ${to === '' ? "''" : to}   undoes it with all that is newer.`],
      isEnough: true,
    };
  return { lines: undoFirst.length === 0 ? [] : [`  Undo first, in this order: ${undoFirst.join(', ')}.`], isEnough: false };
}

/** A rollback may also overwrite what a Transaction of another app wrote. */
function isOverwritable({ reason }: UndoItem, { rollback }: TransactionView): boolean {
  return reason !== undefined && (overwritten.has(reason) || (rollback !== undefined && reason === 'LaterTransaction'));
}

/** For example `Undo rel-2: deletes 14 objects, changes 3 back, recreates 1. Continue?`. */
export function undoQuestion(verb: string, { view, answer }: UndoPlan): string {
  const sum = (verdict: UndoItemVerdict) => countIn(answer.counts, verdict);
  const parts: readonly (readonly [number, string, string])[] = [
    [sum('Delete'), 'deletes', ''],
    [sum('Restore'), 'changes', ' back'],
    [sum('Recreate'), 'recreates', ''],
    [sum('Keep'), 'keeps', ''],
    [sum('Blocked'), 'cannot undo', ''],
  ];
  const some = parts.filter(([number]) => number > 0);
  const deeds = some.map(([number, what, after], place) => `${what} ${place === 0 ? objects(number) : number}${after}`);
  const names = view.rollback === undefined ? view.name : namesOf(undoesOf(view));
  return `${verb} ${names}: ${deeds.length === 0 ? 'changes no object' : deeds.join(', ')}. Continue?`;
}

function objects(number: number): string {
  return `${number} object${number === 1 ? '' : 's'}`;
}

function countsLine(counts: UndoCounts): string {
  const words = { Delete: 'delete', Recreate: 'recreate', Restore: 'restore', Nothing: 'nothing', Keep: 'keep' } as const;
  const stopping = { Blocked: 'blocked', Undecided: 'undecided' } as const;
  const all = Object.entries({ ...words, ...stopping }) as [UndoItemVerdict, string][];
  return `${all.map(([verdict, word]) => `${countIn(counts, verdict)} ${word}`).join(', ')}.`;
}

function countIn(counts: UndoCounts, verdict: UndoItemVerdict): number {
  return counts[verdict.toLowerCase() as Lowercase<UndoItemVerdict>] ?? 0;
}

const longest = 2_000;

function short(text: string): string {
  return foreign(text, longest);
}
