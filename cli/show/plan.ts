// A plan as a table, with the fields of each change and the findings. Pure.

import type { JsonObject } from '../../hooks/objects/json.ts';
import { describe, type Reference } from '../../hooks/objects/reference.ts';
import { clean } from '../../hooks/objects/words.ts';
import type { Finding, Plan, PlannedChange } from '../../hooks/transactions/inspection.ts';
import { documentOf } from './document.ts';
import { fieldLines } from './fields.ts';
import { counted, operationsOfPlan, operationWords } from './operations.ts';
import { paint, type Style, widthOf, wrapTo } from './style.ts';
import { tableOf } from './table.ts';
import { tookWords } from './took.ts';
import { noteLines, warningLines } from './warnings.ts';
import { amount } from './words.ts';

interface Setting {
  readonly style: Style;
  /** The version of the engine, or why it is unknown. */
  readonly engine: string;
  /** The command that grants what is missing. */
  readonly rbac: string;
  /** The exit code. */
  readonly code: number;
  /** Of the terminal; Infinity in a pipe. */
  readonly columns?: number;
  /** Without the fields, because another program has shown them. */
  readonly isBrief: boolean;
}

/** schemas/plan.schema.json */
export function planDocument(plan: Plan): JsonObject {
  return documentOf('Plan', plan);
}

const signs = { create: '+', update: '~', delete: '-', none: ' ' } as const;
const colors = { create: 'green', update: 'yellow', delete: 'red', none: 'dim' } as const;

export function planLines(plan: Plan, setting: Setting): readonly string[] {
  const details = setting.isBrief
    ? []
    : plan.changes.filter(({ operation }) => operation !== 'none').flatMap((one) => detail(one, setting.style));
  const { columns = Number.POSITIVE_INFINITY } = setting;
  const lines = [
    ...heading(plan, setting),
    '',
    ...(plan.changes.length === 0 ? [] : [...tableWithin(columns, plan, setting.style), '']),
    ...(details.length === 0 ? [] : [...details, '']),
    ...verdictLines(plan, setting),
    ...plan.changes.flatMap(ownerLines),
    ...noteLines(plan.changes.map(({ target, note }) => ({ object: describe(target), text: note }))),
    ...warningsOf(plan),
    ...plan.locks.map(lockLine),
    ...plan.unseen.map((what) => `Not seen     ${clean(what)}`),
    `${countsOf(plan.changes)} Nothing was written.   exit ${setting.code}`,
  ];
  return lines.flatMap((line) => indented(columns, line));
}

/** Lines that fit; what follows the first one is as far to the right, and two columns more. */
function indented(columns: number, line: string): readonly string[] {
  if (widthOf(line) <= columns) return [line];
  const indent = /^ */.exec(line)?.[0] ?? '';
  const parts = wrapTo(columns - indent.length - 2, line.slice(indent.length));
  return parts.map((part, index) => `${indent}${index === 0 ? '' : '  '}${part}`);
}

function lockLine({ target, holder, expires, expired }: Plan['locks'][number]): string {
  const until = expired === true ? `holds it, has not ended, and has not renewed it since it expired at` : 'holds it until';
  return `Locked       ${describe(target)}: Transaction ${holder} ${until} ${expires}; this one waits.`;
}

function heading({ namespace, name, serviceAccountName, exact }: Plan, { engine }: Setting): readonly string[] {
  const who = exact ? `as ServiceAccount ${namespace}/${serviceAccountName}` : 'as yourself, so it is not exact';
  const version = /^\d/.test(engine) ? ` (engine ${engine})` : '';
  return [clean(`Plan of ${namespace}/${name}, ${who}${version}`)];
}

/**
 * Where it would not fit, the heading alone names the namespace of all objects, and each note is below its object. Objects whose
 * content stays share the last line.
 */
function tableWithin(columns: number, { namespace, changes: all }: Plan, style: Style): readonly string[] {
  const targets = new Map(all.map(({ index, target }) => [index, target]));
  const changes = all.filter((one) => !isQuiet(one));
  const quiet = all.filter(isQuiet);
  const noted = changes.map((change) => clean(notes(change, targets).join('; ')));
  const whole = table(changes, { style, noted, quiet, isPlaced: true });
  if (whole.every((line) => widthOf(line) <= columns)) return whole;
  const isPlaced = all.some(({ target }) => (target.namespace ?? namespace) !== namespace);
  const [header = '', ...lines] = table(changes, { style, noted: noted.map(() => ''), quiet, isPlaced });
  return [
    header.replace(/ +NOTE$/, ''),
    ...lines.flatMap((line, index) => [line, ...((noted[index] ?? '') === '' ? [] : [`    ${noted[index]}`])]),
  ];
}

interface Tabled {
  readonly style: Style;
  /** For each change. */
  readonly noted: readonly string[];
  readonly quiet: readonly PlannedChange[];
  /** With the column of namespaces. */
  readonly isPlaced: boolean;
}

const isQuiet = ({ operation, deferred }: PlannedChange): boolean => operation === 'none' && !deferred;

function table(changes: readonly PlannedChange[], { style, noted, quiet, isPlaced }: Tabled): readonly string[] {
  const placed = (place: string): readonly string[] => (isPlaced ? [place] : []);
  const single = quiet.length === 1 ? quiet : [];
  const rows = [...changes, ...single].map(({ operation, target, fields }, index) => {
    const shown = operation === 'none' ? '' : String(fields.length);
    return [operation, target.kind, ...placed(target.namespace ?? ''), target.name, shown, noted[index] ?? ''].map(clean);
  });
  if (quiet.length > 1) rows.push(['none', amount(quiet.length, 'object'), ...placed(''), '', '', '']);
  const [header = '', ...lines] = tableOf(['OP', 'KIND', ...placed('NAMESPACE'), 'NAME', 'FIELDS', 'NOTE'], rows);
  return [
    `  ${header}`,
    ...lines.map((line, index) => {
      const operation = changes[index]?.operation ?? 'none';
      return paint(style, colors[operation], `${signs[operation]} ${line}`);
    }),
  ];
}

/** Targets by the index of their change. */
type Targets = ReadonlyMap<number, Reference>;

function notes(change: PlannedChange, targets: Targets): readonly string[] {
  const { losers, owners, fields, contentFrom } = change;
  const isHidden = fields.some(({ before, after }) => before?.kind === 'hidden' || after?.kind === 'hidden');
  return [
    ...wayNotes(change, targets),
    ...losers.map(({ manager, paths }) => `takes ${amount(paths.length, 'field')} from ${manager}`),
    ...owners.map(({ code, name }) => `${code} ${name}`),
    ...(contentFrom === undefined ? [] : [`from ${contentFrom}`]),
    ...(isHidden ? ['hidden'] : []),
  ];
}

function wayNotes({ deferred, dependsOn, recreates, gate }: PlannedChange, targets: Targets): readonly string[] {
  const first = dependsOn === undefined ? undefined : targets.get(dependsOn);
  const needed = first === undefined ? '' : `, needs ${first.kind} ${first.name}`;
  return [
    ...(recreates ? ['deleted and created again'] : []),
    ...(deferred ? [`not tried yet${needed}`] : []),
    ...(gate === undefined ? [] : [gate === 'AtEnd' ? 'must be ready at the end' : 'must be ready before the next']),
  ];
}

function detail(change: PlannedChange, style: Style): readonly string[] {
  const { operation, target, fields, losers } = change;
  return [
    paint(style, colors[operation], `${signs[operation]} ${describe(target)}`),
    ...fieldLines(fields, style),
    ...losers.map(({ manager, paths }) => `    takes from ${clean(manager)}: ${clean(paths.join(', '))}`),
  ];
}

/** Why it is refused, or unknown. */
export function verdictLines(plan: Plan, { style, rbac }: Pick<Setting, 'style' | 'rbac'>): readonly string[] {
  const { refusal, also, trouble, verdict: found, gaps } = plan;
  const hint = gaps.length === 0 ? [] : [`To grant what is missing:  ${clean(rbac)}`];
  if (found === 'unknown')
    return [paint(style, 'red', 'Whether the engine would refuse it is unknown:'), `  ${clean(trouble ?? '')}`, ...hint];
  if (found === 'accepted') return hint;
  return [
    paint(style, 'red', `Would be refused: ${amount(refusal.length, 'finding')}`),
    ...refusal.map(findingLine),
    ...(trouble === undefined ? [] : [`Nothing more is known: ${clean(trouble)}`]),
    ...(also.length === 0 ? [] : ['Also, once that is corrected:', ...also.map(findingLine)]),
    ...hint,
  ];
}

function findingLine(found: Finding): string {
  const { reason, message } = found;
  return `  ${reason.padEnd(9)}  ${clean(message)}${found.for === 'undo' ? '   (needed for the undo)' : ''}`;
}

function ownerLines({ target, owners }: PlannedChange): readonly string[] {
  return owners.map(({ code, sentence }) => `${code.padEnd(10)}   ${clean(`${describe(target)}: ${sentence}`)}.`);
}

/** What it takes from other field managers, and what the API server warns of, each text once. */
export function warningsOf({ changes }: Plan): readonly string[] {
  const takes = tookWords(
    'takes',
    changes.map(({ target: { kind, name }, took }) => ({ kind, name, ...(took && { took }) })),
  );
  return [
    ...(takes === '' ? [] : [`${takes}.`.replace('takes', 'Takes')]),
    ...warningLines(changes.map(({ target, warnings }) => ({ object: describe(target), ...(warnings && { warnings }) }))),
  ];
}

export function countsOf(changes: readonly PlannedChange[]): string {
  const words = operationWords(counted(changes.map(({ operation }) => operationsOfPlan[operation])));
  const deferred = changes.filter((one) => one.deferred).length;
  return `Planned: ${words}${deferred === 0 ? '' : ` (${deferred} of them not tried yet)`}.`;
}
