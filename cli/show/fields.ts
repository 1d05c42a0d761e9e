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

/** `path   before -> after`, with the paths in one column. `withNow` adds the present value. */
export function fieldLines(fields: readonly FieldChange[], style: Style, withNow = false): readonly string[] {
  const width = fields.reduce((widest, { path }) => Math.min(longestColumn, Math.max(widest, clean(path).length)), 0);
  return fields.flatMap((field) => {
    const path = clean(field.path).padEnd(width);
    const now = withNow ? `, now ${shownText(field.now)}` : '';
    const lines = linesOfText(field);
    const head = `    ${path}   `;
    if (lines === undefined)
      return [`${head}${shownText(field.before)} -> ${paint(style, 'bold', shownText(field.after))}${now}`];
    return [
      head.trimEnd(),
      ...lines.map((line) => `      ${paint(style, line.startsWith('+') ? 'green' : 'red', line)}`),
      ...(withNow ? [`      now ${shownText(field.now)}`] : []),
    ];
  });
}

/** If texts differ in more lines than this, all lines are shown: the time of a diff grows with the square of this number. */
const mostEdits = 500;

/** Texts of several lines, as the lines that only one side has. */
function linesOfText({ before, after }: FieldChange): readonly string[] | undefined {
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
