// What was found, as data for pre-flight and as a page for people.
import { groupOf } from '../../hooks/model/reference.ts';
import type { Found } from './trial.ts';

/** A row for each field, once for all seeds of a kind: one way is one way, undecided is what no seed has decided. */
function merged(found: readonly Found[], verdict: Found['verdict']): readonly Found[] {
  const nameOf = ({ kind, path, change }: Found): string => [kind, path, change].join(' ');
  const decided = new Set(found.filter((one) => one.verdict !== 'undecided').map(nameOf));
  const rows = found.filter((one) => one.verdict === verdict && (verdict !== 'undecided' || !decided.has(nameOf(one))));
  const unique = new Map(rows.map((one) => [nameOf(one), one]));
  return [...unique.values()].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

/** Where a field cannot be set back, nothing is said of the fields inside it. */
function outermost(rows: readonly Found[]): readonly Found[] {
  const isInside = (one: Found, other: Found): boolean =>
    one.kind === other.kind &&
    one.change === other.change &&
    /^[.[]/.test(one.path.slice(other.path.length)) &&
    one.path.startsWith(other.path);
  return rows.filter((one) => !rows.some((other) => isInside(one, other)));
}

function kindOf(apiVersionAndKind: string): string {
  const [apiVersion = '', kind = ''] = apiVersionAndKind.split(' ');
  return `${groupOf(apiVersion)}/${kind}`;
}

export function tableOf(found: readonly Found[], version: string): string {
  const byKind = Map.groupBy(outermost(merged(found, 'one way')), ({ kind }) => kindOf(kind));
  const rows = [...byKind].map(([kind, all]) => {
    const fields = all.map(({ path, change }) => `    { path: '${path}', change: '${change}' },`);
    return [`  '${kind}': [`, ...fields, '  ],'].join('\n');
  });
  return `// Fields that the API server lets nobody set back. Made by \`npm run one-way\`; docs/one-way.md says what that could not decide.

export interface OneWayField {
  /** Names of fields; \`[]\` stands for the items of a list. */
  readonly path: string;
  /** What cannot be taken back: that it is set, gets an item more, is changed or removed. */
  readonly change: 'set' | 'added' | 'changed' | 'removed';
}

/** The version of the API server that was tried. */
export const triedOn = '${version}';

/** By group and kind. */
export const oneWayFields: Readonly<Record<string, readonly OneWayField[]>> = {
${rows.join('\n')}
};
`;
}

export function documentOf(found: readonly Found[], unseeded: readonly string[], version: string): string {
  const [ways, both, undecided] = (['one way', 'both ways', 'undecided'] as const).map((verdict) => merged(found, verdict));
  const list = (rows: readonly Found[] = []): string =>
    [...Map.groupBy(rows, ({ kind }) => kind)]
      .map(([kind, all]) => `- ${kind}: ${all.map(({ path, change }) => `\`${path}\` ${change}`).join(', ')}`)
      .join('\n');
  return `# Fields that cannot be set back

\`npm run one-way\` makes an object of each built-in kind on a control plane of its own (Kubernetes ${version}), mutates each field of its
schema by a real write and tries the inverse by dry run. A Transaction with such a change is refused as \`Irreversible\` unless
\`tx.janus.io/allow-irreversible\` allows it. ${both?.length} changes go both ways, ${ways?.length} one way, ${undecided?.length} are undecided.

One way:

${list(ways)}

## Undecided

Of these no value that was tried is admitted: they are immutable, need other fields with them, or another state of the object. What is
read from more than one field is a rule of its own in \`hooks/checks/one-way.ts\`: storage versions of a CRD, a Job that is resumed.

${list(undecided)}

No object can be made of: ${unseeded.join(', ') || 'none'}.
`;
}
