// Fields that differ, as lines. Pure.
import { diffArrays } from 'diff';
import { describe, type Reference } from '../../hooks/objects/reference.ts';
import { clean } from '../../hooks/objects/words.ts';
import type { FieldChange, PlannedChange, Shown } from '../../hooks/transactions/inspection.ts';
import { paint, type Style } from './style.ts';

/** A value on one line: what cannot be seen is written as `\u{...}`. */
function shownText(shown: Shown | undefined): string {
  if (shown === undefined) return '(none)';
  return shown.kind === 'hidden' ? '(hidden)' : clean(JSON.stringify(shown.value));
}

const longestColumn = 60;

/** `path   before -> after`, the paths in one column; with `now` as a third value where it is told. */
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

/** Of texts that differ in more lines, all lines are shown: to find the fewest takes the square of this. */
const mostEdits = 500;

/** Texts of several lines, by the lines that one side alone has. */
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

/** A file with one field a line, of a name that no other change has. A hidden value that changes differs, without being told. */
export function fieldFile(
  { index, target, fields }: PlannedChange,
  side: 'before' | 'after',
): { readonly name: string; readonly text: string } {
  const lines = fields.map((field) => {
    const shown = field[side];
    const told = shown?.kind === 'hidden' ? `(hidden, ${side})` : shownText(shown);
    return `${clean(field.path)}: ${told}\n`;
  });
  return {
    name: `${index}.${fileName(target)}.yaml`,
    text: fields.some((field) => field[side] !== undefined) ? lines.join('') : '',
  };
}

// File systems take 255 bytes; a name may have 253, and comes with a kind and a namespace.
function fileName(target: Reference): string {
  return describe(target)
    .replaceAll(/[^\w.-]+/g, '.')
    .slice(0, 200);
}
