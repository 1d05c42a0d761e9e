// docs/api.md, made from the schemas of the two kinds: each field with its type, default, bounds, meaning and an example.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isList, isObject, type Json, type JsonObject, objectAt } from '../hooks/objects/json.ts';
import { targetRules, transactionRules } from '../schemas/creation-rules.ts';
import { packageTransactionDefinition } from '../schemas/packages/package-transaction.ts';
import type { Schema } from '../schemas/schema.ts';
import { transaction } from '../schemas/transaction.ts';

/** A kind of the page. */
interface Kind {
  readonly title: string;
  readonly schema: Schema;
  /** The fields that have a section of their own, with those below them. */
  readonly sections: readonly string[];
  /** An object that sets each field of `spec`. */
  readonly example: Json;
}

interface Field {
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** The field above with an equal meaning, and with equal fields if it is an object. */
  readonly equal?: string | undefined;
}

const file = parse(readFileSync(new URL('../manifests/examples/every-field.yaml', import.meta.url), 'utf8')) as JsonObject;

/** No Transaction has both changes and rollback. */
const rollback = { to: 'shop-5', keep: ['ConfigMap/banner'], overwrite: ['Deployment/web'], partial: true, digest: '9f86…' };

const example: Json = { ...file, spec: { ...objectAt(file, 'spec'), rollback } };

const packageExample = {
  spec: {
    change: 'Install',
    install: { package: packageOf('acme') },
    delete: { source: 'registry.example.org/acme/provider-aws-s3' },
    replace: { source: 'registry.example.org/acme/provider-aws-s3', package: packageOf('other') },
    retryLimit: 5,
    dryRun: true,
  },
};

function packageOf(vendor: string) {
  return {
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'Provider',
    metadata: { name: 'provider-aws-s3', uid: '6fd1…', labels: { team: 'storage' } },
    spec: { package: `registry.example.org/${vendor}/provider-aws-s3:v1.0.0` },
  };
}

const [packageVersion] = packageTransactionDefinition.spec.versions;

const kinds: readonly Kind[] = [
  {
    title: 'Transaction',
    schema: transaction,
    sections: ['spec', 'spec.changes[]', 'spec.changes[].gate', 'status', 'status.items[]', 'status.undo'],
    example,
  },
  {
    title: 'Package transaction',
    schema: packageVersion?.schema.openAPIV3Schema ?? {},
    sections: ['spec', 'status'],
    example: packageExample,
  },
];

/** A message that says what a text of a new Transaction must be, by the path of its field. */
const rules: ReadonlyMap<string, string> = new Map([
  ...transactionRules.map(({ path, message }) => [path, message] as const),
  ...targetRules.toReversed().map(({ path, message }) => [`spec.changes[].target.${path}`, message] as const),
]);

export function apiPage(): string {
  return `# API

\`npm run generate\` makes this page from \`schemas/\`: change these files instead. \`kubectl explain\` shows the same fields. [reasons.md](reasons.md) has the
reasons of conditions and errors, [reference.md](reference.md) has phases, states of changes, annotations and limits. Durations are in h, m, s and ms.

${kinds.map(partOf).join('\n\n')}
`;
}

function partOf(kind: Kind): string {
  const { apiVersion } = kind.schema.properties ?? {};
  const head = `## ${kind.title}\n\n${kind.schema.description} ${apiVersion?.description?.replace('Always', 'Its `apiVersion` is')}`;
  const all = fieldsBelow(kind.schema, '', new Map());
  return [head, ...kind.sections.map((section) => sectionOf(kind, section, all))].join('\n\n');
}

function sectionOf(kind: Kind, section: string, all: readonly Field[]): string {
  const isHere = ({ path }: Field): boolean => nearest(kind, path) === section;
  const own = all.find(({ path }) => path === section.replace('[]', ''));
  const hasExamples = section.startsWith('spec');
  const columns = ['field', 'type', 'default', 'values', 'meaning', ...(hasExamples ? ['example'] : [])];
  const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rows = all.filter(isHere).map((field) => {
    const cells = cellsOf(kind, section, field);
    return row(hasExamples ? [...cells, exampleAt(kind.example, field.path)] : cells);
  });
  const title = `### ${kind.title}: ${section}`;
  const description = own?.schema.items?.description ?? own?.schema.description ?? '';
  return [title, description, [row(columns), row(columns.map(() => '---')), ...rows].join('\n')].join('\n\n');
}

/** The longest section above a path. A field with a section of its own also has a row in the section above it. */
function nearest({ sections }: Kind, path: string): string {
  const above = sections.filter((section) => path.startsWith(`${section}.`) || (path !== section && path.startsWith(section)));
  return above.reduce((longest, one) => (one.length > longest.length ? one : longest), '');
}

function cellsOf(kind: Kind, section: string, field: Field): readonly string[] {
  const { path, schema, isRequired } = field;
  const name = path.slice(section.length).replace(/^\./, '');
  const below = kind.sections.find((one) => one.replace(/\[\]$/, '') === path);
  const meaning = below === undefined ? meaningOf(field) : `${meaningOf(field)} [Fields](#${anchorOf(kind, below)})`;
  return [
    `\`${name}\``,
    `${typeOf(schema)}${isRequired ? ', required' : ''}`,
    defaultOf(schema),
    boundsOf(schema, path),
    meaning,
  ];
}

function meaningOf({ schema, equal }: Field): string {
  const description = schema.description?.replace(durationRange, '') ?? '';
  if (equal === undefined) return description;
  return schema.properties === undefined ? `As ${equal}.` : `${description} Its fields are those of ${equal}.`;
}

function anchorOf({ title }: Kind, section: string): string {
  const heading = `${title}: ${section}`.toLowerCase();
  return heading.replaceAll(/[^a-z0-9\s-]/g, '').replaceAll(' ', '-');
}

/** All fields below a schema, in their order, each before those that it holds. `shown`: the paths of what has a row already. */
function fieldsBelow(schema: Schema, above: string, shown: Map<string, string>): readonly Field[] {
  const { properties = {}, required = [] } = schema;
  const names = above === '' ? ['spec', 'status'] : Object.keys(properties);
  return names.flatMap((name) => {
    const field = properties[name] ?? {};
    const path = above === '' ? name : `${above}.${name}`;
    const equal = equalIn(shown, field, path);
    const own = { path, schema: field, isRequired: required.includes(name), equal: equal && beside(equal, above) };
    return equal && field.properties ? [own] : [own, ...inside(field, path, shown)];
  });
}

/** Characters of a schema whose meaning is not repeated. */
const shortest = 150;

/** The path of an equal field that has a row already; undefined if this is the first one. */
function equalIn(shown: Map<string, string>, field: Schema, path: string): string | undefined {
  const key = JSON.stringify(field.properties ?? field);
  const equal = shown.get(key);
  if (key.length > shortest && equal === undefined) shown.set(key, path);
  return equal;
}

/** A path without the part that it shares with its neighbours. */
function beside(path: string, above: string): string {
  return path.startsWith(`${above}.`) ? path.slice(above.length + 1) : path;
}

function inside({ items, ...schema }: Schema, path: string, shown: Map<string, string>): readonly Field[] {
  if (items?.properties !== undefined) return fieldsBelow(items, `${path}[]`, shown);
  return schema.properties === undefined ? [] : fieldsBelow(schema, path, shown);
}

function typeOf({ type, items, additionalProperties }: Schema): string {
  if (type === 'array') return `list of ${items?.type ?? 'any'}s`;
  if (typeof additionalProperties === 'object') return `map of ${additionalProperties.type}s`;
  return type ?? 'any';
}

/** A default of the API server, or one that the engine takes and the description marks. */
function defaultOf(schema: Schema): string {
  const marked = /(\w+) \(default\)/.exec(schema.description ?? '')?.[1];
  if (schema.default !== undefined)
    return `\`${typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default)}\``;
  return marked === undefined ? '' : `\`${marked}\``;
}

/** The end of the description of a duration (schemas/fields.ts). */
const durationRange = / A duration from (\S+ to \S+)\.$/;

function boundsOf(schema: Schema, path: string): string {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, maxProperties } = schema;
  const duration = durationRange.exec(schema.description ?? '')?.[1];
  if (duration !== undefined) return duration;
  const bounds = [
    (schema.enum ?? []).map((value) => `\`${value}\``).join(', '),
    rangeOf(minLength, maxLength, 'characters'),
    rangeOf(minimum, maximum, ''),
    rangeOf(minItems, maxItems, 'entries'),
    rangeOf(undefined, maxProperties, 'entries'),
    rules.get(path) ?? '',
  ];
  return bounds.filter((text) => text !== '').join('; ');
}

function rangeOf(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined) return most === undefined ? '' : `at most ${most} ${unit}`.trim();
  if (most === undefined) return `at least ${least} ${unit}`.trim();
  return `${least === most ? most : `${least} to ${most}`} ${unit}`.trim();
}

/** The first value of the example at a path, if it is short. */
function exampleAt(object: Json, path: string): string {
  const value = valuesAt(object, path.split('.'))[0];
  if (value === undefined || isObject(value) || (isList(value) && value.some(isObject))) return '';
  const text = JSON.stringify(value);
  return `\`${text.length > 60 ? `${text.slice(0, 40)}…"` : text}\``;
}

function valuesAt(value: Json | undefined, [step, ...rest]: readonly string[]): readonly Json[] {
  if (value === undefined || step === undefined) return value === undefined ? [] : [value];
  const inner = isObject(value) ? value[step.replace('[]', '')] : undefined;
  const each = step.endsWith('[]') ? (isList(inner) ? inner : []) : [inner];
  return each.flatMap((one) => valuesAt(one, rest));
}
