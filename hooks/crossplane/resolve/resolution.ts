// The whole tree of a package, from the values that were read so far: resolved, refused, or what to read next. The result depends
// only on the arguments, and not on the order of their parts.
import type { JsonObject } from '../../objects/json.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import { type Installed, lockEntry, present } from '../model/lock.ts';
import { nameInRevision, packageName, revisionName } from '../model/names.ts';
import type { Meta } from '../model/package.ts';
import { dependenciesFirst } from './cycles.ts';
import { createIndex, type Fetched, type Needs, OverBudget, type RegistryData, type Release } from './package-index.ts';
import type { Problem, Root, State } from './problem.ts';
import { describeDemands, refusalOf } from './refusals.ts';
import { solve } from './solver.ts';

export interface Question {
  readonly root: Root;
  readonly installed: readonly Installed[];
}

export type Resolution =
  | { readonly kind: 'resolved'; readonly packages: readonly Resolved[]; readonly lock: readonly JsonObject[] }
  | { readonly kind: 'refused'; readonly fault: PackageFault }
  /** The tree needs a release that cannot be read. */
  | { readonly kind: 'broken'; readonly release: Release }
  /** `checks`: the work of this round, for the next round. */
  | ({ readonly kind: 'needs'; readonly checks: number } & Needs);

/** A package of the tree, changed or not. */
export interface Resolved {
  readonly source: string;
  /** The name of the package object. */
  readonly name: string;
  readonly revision: string;
  /** The tag; undefined if a digest was demanded. */
  readonly tag: string | undefined;
  /** Undefined if the package stays and the Lock has no digest for it. */
  readonly digest: string | undefined;
  readonly change: 'root' | 'added' | 'upgraded' | 'kept';
  /** The previous version of a package that the root replaces or that is upgraded. */
  readonly from: string | undefined;
  /** The revision that is replaced, if there is one. */
  readonly leaves: string | undefined;
  /** The demands for the package. */
  readonly demands: readonly { readonly package: string; readonly constraints: string }[];
  /** Undefined if the package stays. */
  readonly meta: Meta | undefined;
}

/** `spent`: `checks` of the round before. */
export function resolve(question: Question, known: RegistryData, spent = 0): Resolution {
  try {
    return resolution(question, known, spent);
  } catch (thrown) {
    if (!(thrown instanceof OverBudget)) throw thrown;
    const message = `${question.root.source}: ${thrown.message}; require fewer packages, or fewer constraints`;
    return { kind: 'refused', fault: packageFault('InvalidPackage', message) };
  }
}

function resolution(question: Question, known: RegistryData, spent: number): Resolution {
  const index = createIndex(known, spent);
  const others = present(question.installed).filter(({ source }) => source !== question.root.source);
  const sorted = others.toSorted((left, right) => (left.source < right.source ? -1 : 1));
  const problem: Problem = { root: question.root, installed: new Map(sorted.map((entry) => [entry.source, entry])), index };
  const found = solve(problem);
  if (found.kind === 'found') return resolved(found.state, problem, question.installed);
  if (found.kind === 'broken') return found;
  if (found.kind === 'conflict') return { kind: 'refused', fault: refusalOf(found.settled, found.isCertain, problem) };
  return { kind: 'needs', checks: index.checks(), ...(index.needs() ?? { tags: [], packages: [] }) };
}

function resolved(state: State, problem: Problem, installed: readonly Installed[]): Resolution {
  const previous = new Map(present(installed).map((entry) => [entry.source, entry]));
  const { order } = dependenciesFirst(problem.root.source, state.dependencies);
  const packages = order.map((source): Resolved => {
    const [entry, demands] = [previous.get(source), describeDemands(state.demands(source), problem)];
    return { ...releaseOf(source, state, problem), source, from: entry?.tag ?? entry?.digest, leaves: entry?.name, demands };
  });
  return { kind: 'resolved', packages, lock: proposed(packages, installed) };
}

type Chosen = Omit<Resolved, 'source' | 'from' | 'leaves' | 'demands'>;

function releaseOf(source: string, { choice }: State, { root, installed, index }: Problem): Chosen {
  const [entry, version] = [installed.get(source), choice.get(source)];
  if (source === root.source) return chosen(root.name, root.tag ?? root.version, root, 'root');
  const revision = entry?.name ?? '';
  const name = nameInRevision(revision);
  if (version === undefined) return { name, revision, tag: entry?.tag, digest: entry?.digest, change: 'kept', meta: undefined };
  const fetched = index.fetched({ source, version });
  if (fetched === undefined) throw new Error(`${source} ${version} was chosen and is not known`);
  return entry === undefined
    ? chosen(packageName(source), version, fetched, 'added')
    : chosen(name, version, fetched, 'upgraded');
}

function chosen(name: string, version: string, { digest, meta }: Fetched, change: Resolved['change']): Chosen {
  return { name, revision: revisionName(name, digest), tag: version === digest ? undefined : version, digest, change, meta };
}

/** The whole Lock after the change: kept entries are unchanged and in place, and new entries follow in order. */
function proposed(packages: readonly Resolved[], installed: readonly Installed[]): readonly JsonObject[] {
  const changed = new Map(packages.filter(({ change }) => change !== 'kept').map((one) => [one.source, entryOf(one)]));
  const stayed = installed.map(({ source, entry }) => changed.get(source) ?? entry);
  const sources = new Set(installed.map(({ source }) => source));
  return [...stayed, ...[...changed].filter(([source]) => !sources.has(source)).map(([, entry]) => entry)];
}

function entryOf({ revision, source, tag, digest, meta }: Resolved): JsonObject {
  return lockEntry({ name: revision, source, tag, digest, dependencies: meta?.dependencies ?? [] }, meta?.kind ?? '');
}
