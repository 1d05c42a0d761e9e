// The effects of an undo, or why the engine refused it, as `status.undo` states them. Pure.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import type { Reason } from '../../hooks/transactions/model/reason.ts';
import {
  amountOf,
  notedValue,
  type UndoAnswer,
  type UndoCounts,
  type UndoField,
  type UndoItem,
  type UndoItemVerdict,
  undoVerdicts,
} from '../../hooks/transactions/model/undo.ts';
import { documentOf } from './document.ts';
import { operationsOf, operationWords } from './operations.ts';
import { paint, type Style } from './style.ts';
import { tableOf } from './table.ts';
import { namesOf, undoesOf } from './undone.ts';
import type { RollbackView, TransactionView } from './view.ts';
import { noteLines } from './warnings.ts';
import { amount } from './words.ts';

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
  const has = (verdict: UndoItemVerdict): boolean => amountOf(counts, verdict) > 0;
  if (reason !== 'Planned' || (has('Blocked') && !isPartial)) return 'refused';
  if (has('Undecided') && !isPartial) return 'unknown';
  return has('Delete') || has('Recreate') || has('Restore') ? 'changes' : 'nothing';
}

/** Exit codes of a plan: those of janus plan. */
export const planCodes: Readonly<Record<UndoVerdict, number>> = { nothing: 0, changes: 1, refused: 2, unknown: 3 };

/** `-o json` and `-o yaml` print this document: schemas/undo-plan.schema.json. */
export function undoDocument(plan: UndoPlan): JsonObject {
  const { view, answer, later, isPartial } = plan;
  const { reason, message, digest, items, moreItems = 0 } = answer;
  const counts = Object.fromEntries(undoVerdicts.map((verdict) => [verdict.toLowerCase(), amountOf(answer.counts, verdict)]));
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

export function undoLines(plan: UndoPlan, { code, ...setting }: Setting & { readonly code: number }): readonly string[] {
  const lines = planLines(plan, setting);
  return [...lines.slice(0, -1), `${lines.at(-1)} No object was changed.   exit ${code}`];
}

/** The lines of a plan at most. */
const mostLines = 40;

/** The plan, without what the command does next. The sum is last. */
export function planLines(plan: UndoPlan, setting: Setting): readonly string[] {
  const { items, counts, digest } = plan.answer;
  const top = [headOf(plan.view), '', ...table(plan.answer, setting.style), ''];
  const bottom = [...verdictLines(plan, setting), `Digest ${digest}`, countsLine(counts)];
  const noted = items.filter(isNoteOnly).map(({ target, message }) => ({ object: short(target), text: message }));
  const details = [
    ...items.filter((item) => isDetailed(item) && !isNoteOnly(item)).flatMap((item) => [...detail(item, setting.style), '']),
    ...noteLines(noted),
  ];
  return [...top, ...fitting(details, mostLines - top.length - bottom.length), ...bottom];
}

function fitting(lines: readonly string[], room: number): readonly string[] {
  if (lines.length <= room) return lines;
  const shown = lines.slice(0, Math.max(0, room - 1));
  return [...shown, `  and ${lines.length - shown.length} more lines; -o json has all`];
}

function headOf(view: TransactionView): string {
  const { namespace, name, phase, rollback, changes } = view;
  if (rollback === undefined) return `Plan of the undo of ${namespace}/${name}: ${operationWords(operationsOf(changes))}`;
  const undoes = undoesOf(view).join(', ');
  if (phase === 'Committed') return `Plan of the undo of ${namespace}/${name}: brings back ${undoes}`;
  return `Plan of the rollback to ${stateAfter(rollback, namespace)}: undoes ${undoes}`;
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

/** One line for all objects that need no undo. */
function table({ items, counts, moreItems = 0 }: UndoAnswer, style: Style): readonly string[] {
  const [still, shown] = [items.filter(isStill), items.filter((item) => !isStill(item))];
  const quiet = amountOf(counts, 'Nothing') - shown.filter(({ verdict }) => verdict === 'Nothing').length;
  const hidden = moreItems - (quiet - still.length);
  const rows = shown.map(({ verdict, target, fields = [], moreFields = 0, reason = '' }) => {
    const changed = fields.length + moreFields;
    return [verdict.toLowerCase(), short(target), changed === 0 ? '' : String(changed), reason];
  });
  if (quiet > 0)
    rows.push(['nothing', quiet === 1 && still[0] !== undefined ? short(still[0].target) : amount(quiet, 'object'), '', '']);
  if (rows.length === 0) return [];
  const [header = '', ...lines] = tableOf(['OP', 'OBJECT', 'FIELDS', 'REASON'], rows);
  const signed = lines.map((line, index) => {
    const { sign, color } = looks[shown[index]?.verdict ?? 'Nothing'];
    return paint(style, color, `${sign} ${line}`);
  });
  return [`  ${header}`, ...signed, ...(hidden > 0 ? [`  and ${hidden} more`] : [])];
}

const isStill = ({ verdict, reason }: UndoItem): boolean => verdict === 'Nothing' && reason === undefined;

const isStopping = ({ verdict }: UndoItem): boolean => verdict === 'Blocked' || verdict === 'Undecided';

function isDetailed({ fields = [], message = '' }: UndoItem): boolean {
  return fields.length > 0 || message !== '';
}

/** Whether the plan says of the object only what it may say of many. */
function isNoteOnly(item: UndoItem): boolean {
  const { fields = [], moreFields = 0, message = '' } = item;
  return !isStopping(item) && message !== '' && fields.length + moreFields === 0;
}

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
  const sum = (verdict: UndoItemVerdict) => amountOf(answer.counts, verdict);
  const parts: readonly (readonly [number, string, string])[] = [
    [sum('Delete'), 'deletes', ''],
    [sum('Restore'), 'changes', ' back'],
    [sum('Recreate'), 'recreates', ''],
    [sum('Keep'), 'keeps', ''],
    [sum('Blocked'), 'cannot undo', ''],
  ];
  const some = parts.filter(([number]) => number > 0);
  const deeds = some.map(([number, what, after], place) => `${what} ${place === 0 ? amount(number, 'object') : number}${after}`);
  const names = view.rollback === undefined ? view.name : namesOf(undoesOf(view));
  return `${verb} ${names}: ${deeds.length === 0 ? 'changes no object' : deeds.join(', ')}. Continue?`;
}

/** `2 delete, 1 restore, 9 nothing.` */
function countsLine(counts: UndoCounts): string {
  const order = ['Delete', 'Restore', 'Nothing', 'Recreate', 'Keep', 'Blocked', 'Undecided'] as const;
  const some = order.filter((verdict) => amountOf(counts, verdict) > 0);
  return `${some.length === 0 ? '0 changes' : some.map((one) => `${amountOf(counts, one)} ${one.toLowerCase()}`).join(', ')}.`;
}

const longest = 2_000;

function short(text: string): string {
  return foreign(text, longest);
}
