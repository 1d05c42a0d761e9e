// Fields that differ, as lines. Pure.
import { diffArrays } from 'diff';
import { describe, type Reference } from '../../hooks/objects/reference.ts';
import { clean } from '../../hooks/objects/words.ts';
import type { FieldChange, PlannedChange, Shown } from '../../hooks/transactions/inspection.ts';
import { paint, type Style } from './style.ts';

/** A value on one line. Invisible characters are written as `\u{...}`. */
function shownText(shown: Shown | undefined): string {
  if (shown === undefined) return '(none)';
  return shown.kind === 'hidden' ? '(hidden)' : clean(JSON.stringify(shown.value));
}

const longestColumn = 60;

/** `path   before -> after`, with the paths in one column. With `byOf`, the values are before, released and now, and who wrote it. */
export function fieldLines<Field extends FieldChange>(
  fields: readonly Field[],
  style: Style,
  byOf?: (field: Field) => string,
): readonly string[] {
  const width = fields.reduce((widest, { path }) => Math.min(longestColumn, Math.max(widest, clean(path).length)), 0);
  return fields.flatMap((field) => {
    const head = `    ${clean(field.path).padEnd(width)}   `;
    const by = byOf?.(field);
    const lines = by === undefined ? linesOfText(field.before, field.after) : linesOfText(field.after, field.now);
    if (lines === undefined) return [`${head}${by === undefined ? changed(field, style) : drifted(field, style, by)}`];
    return [
      `${head.trimEnd()}${by ?? ''}`,
      ...lines.map((line) => `      ${paint(style, line.startsWith('+') ? 'green' : 'red', line)}`),
    ];
  });
}

function changed({ before, after }: FieldChange, style: Style): string {
  return `${shownText(before)} -> ${paint(style, 'bold', shownText(after))}`;
}

function drifted({ before, after, now }: FieldChange, style: Style, by: string): string {
  return `before ${shownText(before)}, released ${shownText(after)}, now ${paint(style, 'bold', shownText(now))}${by}`;
}

/** If texts differ in more lines than this, all lines are shown: the time of a diff grows with the square of this number. */
const mostEdits = 500;

/** Texts of several lines, as the lines that only one side has. */
function linesOfText(before: Shown | undefined, after: Shown | undefined): readonly string[] | undefined {
  const [old, made] = [textIn(before), textIn(after)];
  if (old === undefined || made === undefined || !(old.includes('\n') || made.includes('\n'))) return undefined;
  const [left, right] = [old.split('\n'), made.split('\n')];
  const parts = diffArrays(left, right, { maxEditLength: mostEdits }) ?? [
    { removed: true, added: false, value: left },
    { removed: false, added: true, value: right },
  ];
  return parts.flatMap(({ removed, added, value }) =>
    removed || added ? value.map((line) => `${added ? '+' : '-'} ${clean(line)}`) : [],
  );
}

function textIn(shown: Shown | undefined): string | undefined {
  return shown?.kind === 'value' && typeof shown.value === 'string' ? shown.value : undefined;
}

/** A file with one field a line. Its name is unique among the changes. A hidden value that changes differs, but is not shown. */
export function fieldFile(
  { index, target, fields }: PlannedChange,
  side: 'before' | 'after',
): { readonly name: string; readonly text: string } {
  const lines = fields.map((field) => {
    const shown = field[side];
    const text = shown?.kind === 'hidden' ? `(hidden, ${side})` : shownText(shown);
    return `${clean(field.path)}: ${text}\n`;
  });
  return {
    name: `${index}.${fileName(target)}.yaml`,
    text: fields.some((field) => field[side] !== undefined) ? lines.join('') : '',
  };
}

// File systems limit names to 255 bytes. The name of an object may have 253, and its kind and namespace are added.
function fileName(target: Reference): string {
  return describe(target)
    .replaceAll(/[^\w.-]+/g, '.')
    .slice(0, 200);
}
