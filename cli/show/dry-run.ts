// The plan of a package, from the status of the package transaction that made it. Strangers wrote its names and versions. Pure.
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { clean } from '../../hooks/objects/words.ts';
import { type Format, paint, type Style } from './style.ts';
import { tableOf } from './table.ts';

const operations: Readonly<Record<string, { readonly words: string; readonly sign: string; readonly color: Format }>> = {
  Create: { words: 'created', sign: '+', color: 'green' },
  Update: { words: 'changed', sign: '~', color: 'yellow' },
  HandOver: { words: 'handed over', sign: '>', color: 'yellow' },
  Release: { words: 'released', sign: '>', color: 'yellow' },
  Keep: { words: 'kept', sign: ' ', color: 'dim' },
  Delete: { words: 'deleted', sign: '-', color: 'red' },
  None: { words: 'unchanged', sign: ' ', color: 'dim' },
};

const unknown = { words: 'changed', sign: '~', color: 'yellow' } as const;

interface Setting {
  readonly style: Style;
  /** The exit code. */
  readonly code: number;
}

export function dryRunLines(ptx: JsonObject, { style, code }: Setting): readonly string[] {
  const plan = at(ptx, 'status', 'plan');
  const [packages, objects] = [objectsAt(plan, 'packages'), objectsAt(plan, 'objects')];
  const unlisted = at(plan, 'unlisted');
  return [
    `Plan of ${clean(subjectOf(ptx))}`,
    '',
    ...block(['OP', 'KIND', 'NAME', 'FROM', 'TO', 'REQUIRED BY'], packages, requirersOf, style),
    ...block(['OP', 'KIND', 'NAME', 'FROM', 'TO'], objects, () => [], style),
    ...verdictOf(ptx, style),
    ...(typeof unlisted === 'number' && unlisted > 0
      ? [`${unlisted} more packages and objects have no room in the status.`]
      : []),
    `${countsOf(packages, objects, at(plan, 'unchanged'))} Nothing was changed.   exit ${code}`,
  ];
}

/** `Provider provider-s3`, or the source of the package to delete or to replace. */
function subjectOf(ptx: JsonObject): string {
  const [deleted, replaced] = ['delete', 'replace'].map((change) => textAt(ptx, 'spec', change, 'source'));
  if (deleted !== undefined) return `the deletion of ${deleted}`;
  const snapshot = at(ptx, 'spec', replaced === undefined ? 'install' : 'replace', 'package');
  const subject = `${textAt(snapshot, 'kind')} ${textAt(snapshot, 'metadata', 'name')}`;
  return replaced === undefined ? subject : `${subject} in the place of ${replaced}`;
}

function block(
  header: readonly string[],
  entries: readonly JsonObject[],
  more: (entry: JsonObject) => readonly string[],
  style: Style,
): readonly string[] {
  if (entries.length === 0) return [];
  const rows = entries.map((entry) => {
    const cells = ['kind', 'name', 'from', 'to'].map((key) => shortened(textAt(entry, key) ?? ''));
    return [operationOf(entry).words, ...cells, ...more(entry)].map(clean);
  });
  const [first = '', ...lines] = tableOf(header, rows);
  const painted = lines.map((line, index) => {
    const { sign, color } = operationOf(entries[index] ?? {});
    return paint(style, color, `${sign} ${line}`);
  });
  return [`  ${first}`, ...painted, ''];
}

function operationOf(entry: JsonObject): (typeof operations)[string] {
  return operations[textAt(entry, 'operation') ?? ''] ?? unknown;
}

/** A digest by its first twelve digits, as names of revisions have it. */
function shortened(text: string): string {
  return text.replace(/sha256:([0-9a-f]{12})[0-9a-f]{52}$/, 'sha256:$1');
}

/** The packages that require it, or the package that takes its place. */
function requirersOf(entry: JsonObject): readonly string[] {
  const successor = textAt(entry, 'replacedBy');
  if (successor !== undefined) return [`replaced by ${successor}`];
  const all = objectsAt(entry, 'requiredBy').map((one) => {
    const source = textAt(one, 'package') ?? '';
    return `${source.slice(source.lastIndexOf('/') + 1)} ${textAt(one, 'constraints')}`;
  });
  return [all.join(', ')];
}

/** Why it would be refused, or what else a reader must know. */
function verdictOf(ptx: JsonObject, style: Style): readonly string[] {
  const outcome = at(ptx, 'status', 'outcome');
  const [reason, message] = [textAt(outcome, 'reason') ?? '', clean(textAt(outcome, 'message') ?? '')];
  if (textAt(outcome, 'kind') === 'Succeeded') return message === '' ? [] : [message];
  const isRefused = textAt(outcome, 'step') === 'Validation' && reason !== 'Unavailable';
  return [paint(style, 'red', isRefused ? 'Would be refused:' : 'No plan was made:'), `  ${clean(reason)}  ${message}`];
}

function countsOf(packages: readonly JsonObject[], objects: readonly JsonObject[], unchanged: unknown): string {
  const changed = packages.filter((one) => textAt(one, 'operation') !== 'None').length;
  const counts = Object.entries(operations).flatMap(([operation, { words }]) => {
    const count = objects.filter((one) => textAt(one, 'operation') === operation).length;
    return count === 0 ? [] : [`${count} ${words}`];
  });
  const rest = typeof unchanged === 'number' && unchanged > 0 ? [`${unchanged} unchanged`] : [];
  const all = [...counts, ...rest];
  return `${changed} ${changed === 1 ? 'package changes' : 'packages change'}; objects: ${all.length === 0 ? 'none' : all.join(', ')}.`;
}

/** For a pull request: the lines in an indented block, which no line can end. */
export function dryRunMarkdown(ptx: JsonObject, code: number): readonly string[] {
  const [first = '', ...rest] = dryRunLines(ptx, { style: { colors: false, unicode: true }, code });
  return ['### Plan of a package', '', ...[first, ...rest].map((line) => `    ${line}`.trimEnd())];
}
