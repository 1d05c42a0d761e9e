// A plan as markdown for a pull request: a table, and the fields of each change in a block that opens. Names and values are data of
// others, so they cannot end their cell or their block. Pure.
import { describe } from '../../hooks/objects/reference.ts';
import { clean } from '../../hooks/objects/words.ts';
import type { Plan, PlannedChange } from '../../hooks/transactions/inspection.ts';
import { fieldLines } from './fields.ts';
import { countsOf, verdictLines, warningsOf } from './plan.ts';

/** Characters of the fields. GitHub refuses a comment of more than 65 536 characters. */
const mostFields = 50_000;

const plain = { colors: false, unicode: true } as const;

/** `rbac`: the command that grants what is missing. */
export function planMarkdown(plan: Plan, rbac: string): readonly string[] {
  const changed = plan.changes.filter(({ operation }) => operation !== 'none');
  const verdict = [...verdictLines(plan, { style: plain, rbac }), ...warningsOf(plan)].map((line) => `- ${inline(line.trim())}`);
  return [
    `### Plan of ${inline(`${plan.namespace}/${plan.name}`)}: ${plan.verdict}`,
    '',
    countsOf(plan.changes),
    ...(verdict.length === 0 ? [] : ['', ...verdict]),
    ...(changed.length === 0 ? [] : ['', '| | object | fields |', '|---|---|---|', ...changed.map(row)]),
    ...details(changed),
  ];
}

const signs = { create: '+', update: '~', delete: '-', none: '' } as const;

function row({ operation, target, fields }: PlannedChange): string {
  return `| ${signs[operation]} | ${inline(describe(target))} | ${fields.length} |`;
}

function details(changes: readonly PlannedChange[]): readonly string[] {
  const blocks = changes.filter(({ fields }) => fields.length > 0).map(block);
  let left = mostFields;
  const shown = blocks.filter((lines) => {
    left -= lines.reduce((sum, line) => sum + line.length + 1, 0);
    return left >= 0;
  });
  const hidden = blocks.length - shown.length;
  return [
    ...shown.flat(),
    ...(hidden === 0 ? [] : ['', `The fields of ${hidden} objects are not shown, because they are too long.`]),
  ];
}

/** An indented block: no line of a value can end it. */
function block({ target, fields }: PlannedChange): readonly string[] {
  const summary = `<summary>${inline(describe(target))}</summary>`;
  return ['', `<details>${summary}`, '', ...fieldLines(fields, plain), '', '</details>'];
}

/** Escapes text from the cluster, so that markdown and HTML show it unchanged. */
function inline(text: string): string {
  return clean(text).replaceAll(/[\\`*_{}[\]<>()#+!|~&@]/g, (one) => `&#${one.charCodeAt(0)};`);
}
