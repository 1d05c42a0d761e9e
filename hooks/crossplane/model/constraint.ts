// Constraints as the Go library github.com/Masterminds/semver/v3 (3.5.0) reads them. These rules are not npm's: `,` or a space is
// AND, `||` is OR, `1.2` is `~1.2`, and `1 - 2` is a range. If one term of an AND has a prerelease, the whole AND admits
// prereleases. The library itself is the oracle of test/packages/constraint.test.ts.
import { comparePrereleases, compareVersions, readVersion, type Version } from './version.ts';

/** One range of versions, or one digest. */
export type Constraint =
  | { readonly kind: 'digest'; readonly digest: string }
  | { readonly kind: 'range'; readonly text: string; readonly anyOf: readonly Group[] };

/** All of its terms must hold. */
interface Group {
  readonly terms: readonly Term[];
  readonly admitsPrereleases: boolean;
}

interface Term {
  readonly operator: Operator;
  readonly bound: Version;
  /** Which parts are open (`x`, or missing), from the first open one to the last. */
  readonly open: 'none' | 'all' | 'minor' | 'patch';
}

type Operator = '=' | '!=' | '>' | '<' | '>=' | '<=' | '~' | '^';

const longestConstraint = 512;
const mostGroups = 32;

const operators: Readonly<Record<string, Operator>> = {
  '': '=',
  '=': '=',
  '!=': '!=',
  '>': '>',
  '<': '<',
  '>=': '>=',
  '=>': '>=',
  '<=': '<=',
  '=<': '<=',
  '~': '~',
  '~>': '~',
  '^': '^',
};

const digestForm = /^sha256:[0-9a-f]{64}$/;

/** Undefined if the text is neither a constraint nor a digest. */
export function readConstraint(text: string): Constraint | undefined {
  if (digestForm.test(text)) return { kind: 'digest', digest: text };
  if (Buffer.byteLength(text) > longestConstraint) return undefined;
  const parts = withoutHyphens(text).split('||');
  if (parts.length > mostGroups) return undefined;
  const anyOf = parts.map(readGroup);
  return anyOf.every((group) => group !== undefined) ? { kind: 'range', text, anyOf } : undefined;
}

const part = '[0-9|xX*]+';
const words = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const number = `v?(?:${part})(?:\\.${part})?(?:\\.${part})?(?:-${words})?(?:\\+${words})?`;
const space = '[\\t\\n\\f\\r ]';
const hyphenRange = new RegExp(`${space}*(${number})${space}+-${space}+(${number})${space}*`, 'g');

function withoutHyphens(text: string): string {
  return text.replaceAll(hyphenRange, '>= $1, <= $2 ');
}

const edges = new RegExp(`^${space}+|${space}+$`, 'g');
const separator = new RegExp(`${space}*,${space}*|${space}+`, 'y');
const term = new RegExp(
  `(!=|>=|=>|<=|=<|~>|=|>|<|~|\\^|)${space}*v?(${part})(?:\\.(${part}))?(?:\\.(${part}))?(-${words})?(?:\\+${words})?`,
  'y',
);

// This loop reads term by term. One pattern for the whole text would try every way to divide a run of spaces.
function readGroup(text: string): Group | undefined {
  const group = text.replaceAll(edges, '');
  const terms: Term[] = [];
  let position = 0;
  do {
    const found = matchAt(term, group, position);
    const read = found === null ? undefined : readTerm(found);
    if (found === null || read === undefined) return undefined;
    terms.push(read);
    position = nextTerm(group, position + found[0].length);
  } while (position < group.length);
  return position > group.length ? undefined : { terms, admitsPrereleases: terms.some(({ bound }) => bound.prerelease !== '') };
}

/** The end of the next term; beyond the end of the text if something other than a term follows. */
function nextTerm(group: string, end: number): number {
  if (end === group.length) return end;
  const next = end + (matchAt(separator, group, end)?.[0].length ?? 0);
  return next === end || next === group.length ? group.length + 1 : next;
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

const isOpen = (one: string): boolean => ['', 'x', 'X', '*'].includes(one);

function readTerm([, operator = '', major = '', minor = '', patch = '', end = '']: RegExpExecArray): Term | undefined {
  const open = openOf(major, minor, patch);
  const numbers = { all: '0.0.0', minor: `${major}.0.0`, patch: `${major}.${minor}.0`, none: `${major}.${minor}.${patch}` }[open];
  const bound = readVersion(`${numbers}${end}`);
  const known = operators[operator];
  return bound === undefined || known === undefined ? undefined : { operator: known, bound, open };
}

function openOf(major: string, minor: string, patch: string): Term['open'] {
  if (isOpen(major)) return 'all';
  if (isOpen(minor)) return 'minor';
  return isOpen(patch) ? 'patch' : 'none';
}

/** Whether a version is in the range. A digest has no versions. */
export function admits(constraint: Constraint, version: Version): boolean {
  if (constraint.kind === 'digest') return false;
  return constraint.anyOf.some(
    ({ terms, admitsPrereleases }) =>
      (version.prerelease === '' || admitsPrereleases) && terms.every((one) => holds[one.operator](version, one)),
  );
}

type Check = (version: Version, term: Term) => boolean;

const isBelow: Check = (version, { bound }) => compareVersions(version, bound) < 0;
const isEqual: Check = (version, { bound }) => compareVersions(version, bound) === 0;
const sameMajor: Check = (version, { bound }) => version.major === bound.major;
const sameMinor: Check = (version, { bound }) => version.minor === bound.minor;

// The branches are those of the library: an open part has another meaning with each operator.
const isUnlike: Check = (version, term) => {
  if (term.open === 'none') return !isEqual(version, term);
  if (!sameMajor(version, term)) return true;
  if (term.open === 'minor') return false;
  if (!sameMinor(version, term)) return true;
  if (term.open === 'patch') return differsInEnd(version, term);
  return version.patch !== term.bound.patch || !isEqual(version, term);
};

function differsInEnd({ prerelease }: Version, { bound }: Term): boolean {
  return comparePrereleases(prerelease, bound.prerelease) !== 0;
}

const isAbove: Check = (version, term) => {
  const { bound, open } = term;
  if (open === 'none') return compareVersions(version, bound) > 0;
  if (!sameMajor(version, term)) return version.major > bound.major;
  if (open === 'minor') return false;
  return open === 'patch' ? version.minor > bound.minor : compareVersions(version, bound) > 0;
};

const isAtMost: Check = (version, term) => {
  const { bound, open } = term;
  if (open === 'none') return compareVersions(version, bound) <= 0;
  if (!sameMajor(version, term)) return version.major < bound.major;
  return open === 'minor' || version.minor <= bound.minor;
};

const isNear: Check = (version, term) => {
  if (isBelow(version, term)) return false;
  if (isZero(term)) return true;
  return sameMajor(version, term) && (term.open === 'minor' || sameMinor(version, term));
};

// The library admits every version for `~0.0.0`, so this function admits every version too.
function isZero({ bound, open }: Term): boolean {
  return bound.major === 0n && bound.minor === 0n && bound.patch === 0n && (open === 'none' || open === 'all');
}

const isCompatible: Check = (version, term) => {
  const { bound, open } = term;
  if (isBelow(version, term)) return false;
  if (bound.major > 0n || open === 'minor') return sameMajor(version, term);
  if (version.major > 0n) return false;
  if (bound.minor > 0n || open === 'patch') return sameMinor(version, term);
  return version.minor === 0n && version.patch === bound.patch;
};

const holds: Readonly<Record<Operator, Check>> = {
  '=': (version, term) => (term.open === 'none' ? isEqual : isNear)(version, term),
  '!=': isUnlike,
  '>': isAbove,
  '<': isBelow,
  '>=': (version, term) => !isBelow(version, term),
  '<=': isAtMost,
  '~': isNear,
  '^': isCompatible,
};
