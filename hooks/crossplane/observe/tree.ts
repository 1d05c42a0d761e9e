// Reads the values from registries that the resolution of a tree needs, until the tree is resolved or refused.
import type { JsonObject } from '../../objects/json.ts';
import { sharedObjects } from '../checks/conflicts.ts';
import { type Contents, inspect, type WebhookFaults } from '../checks/contents.ts';
import { crossplaneFaults } from '../checks/crossplane.ts';
import { finalFault, type PackageFault, packageFault } from '../model/fault.ts';
import type { Installed } from '../model/lock.ts';
import { type PackageReference, writeReference } from '../model/reference.ts';
import type { Version } from '../model/version.ts';
import type { Registry, RegistryFailed, RegistryFailure } from '../registry.ts';
import { type Fetched, keyOf, type Needs, type RegistryData, type Release } from '../resolve/package-index.ts';
import { type Question, type Resolution, type Resolved, resolve } from '../resolve/resolution.ts';
import { listingAhead, mostCharacters, mostLists, mostObjects, mostTags, type Prefetch } from './prefetch.ts';

export interface TreeQuery {
  /** The name of the package object. */
  readonly name: string;
  readonly kind: string;
  readonly reference: PackageReference;
  readonly skipsDependencies: boolean;
  readonly installed: readonly Installed[];
  /** The version of Crossplane. Without it, the hook checks no `spec.crossplane.version`. */
  readonly crossplane?: Version | undefined;
  /** The hook does not check the package itself against that version. It checks the dependencies. */
  readonly ignoresCrossplane?: boolean;
  readonly webhookFaults?: WebhookFaults | undefined;
}

export type Tree =
  | { readonly kind: 'resolved'; readonly packages: readonly TreePackage[]; readonly lock: readonly JsonObject[] }
  | { readonly kind: 'refused'; readonly faults: readonly PackageFault[] }
  | { readonly kind: 'failed'; readonly failure: RegistryFailure };

/** A package of the tree with its contents. The hook does not read the contents of a package that stays unchanged. */
export interface TreePackage extends Resolved {
  readonly contents: Contents | undefined;
}

interface Read extends Fetched {
  readonly contents: Contents;
}

interface Collected extends RegistryData {
  readonly tags: Map<string, readonly string[]>;
  readonly packages: Map<string, Read>;
  /** Why the hook cannot read a package. */
  readonly broken: Map<string, Unreadable>;
}

export async function readTree(query: TreeQuery, registry: Registry): Promise<Tree> {
  return treeFrom(query, listingAhead(registry, query));
}

async function treeFrom(query: TreeQuery, registry: Prefetch): Promise<Tree> {
  const root = await readRelease(query.reference, registry);
  if (registry.isFull()) return tooLarge(query.reference);
  if ('kind' in root) return root;
  if (root.meta.kind !== query.kind)
    return refused(
      finalFault('InvalidPackage', `${writeReference(query.reference)} is a ${root.meta.kind}, expected a ${query.kind}`),
    );
  return resolved(query, root, registry);
}

async function resolved(query: TreeQuery, root: Read, registry: Prefetch): Promise<Tree> {
  const { name, skipsDependencies, installed, reference } = query;
  const question: Question = { installed, root: { ...reference, name, skipsDependencies, digest: root.digest, meta: root.meta } };
  const known: Collected = { tags: new Map(), packages: new Map(), broken: new Map() };
  let resolution = resolve(question, known);
  while (resolution.kind === 'needs') {
    if (known.packages.size + known.broken.size + resolution.packages.length > mostPackages) return tooLarge(reference);
    const failed = await fetchAll(resolution, known, registry);
    if (registry.isFull()) return tooLarge(reference);
    if (failed !== undefined) return failed;
    resolution = resolve(question, known, resolution.checks);
  }
  return endOf(resolution, known, root, query);
}

function endOf(resolution: Exclude<Resolution, { kind: 'needs' }>, known: Collected, root: Read, query: TreeQuery): Tree {
  if (resolution.kind === 'refused') return refused(resolution.fault);
  if (resolution.kind === 'resolved') return treeOf(resolution, known, root, query);
  const why = known.broken.get(keyOf(resolution.release));
  if (why === undefined) throw new Error(`${keyOf(resolution.release)} is broken and was not read`);
  return why;
}

/** The number of packages that the hook reads for one tree. */
export const mostPackages = 2_000;

function tooLarge({ source }: PackageReference): Tree {
  const packages = `at most ${mostPackages} packages with ${mostObjects} objects, and ${mostCharacters} characters in names and package metadata`;
  const most = `${packages}, of ${mostLists} sources with at most ${mostTags} tags`;
  return refused(packageFault('InvalidPackage', `${source}: expected ${most}, in its tree, found more`));
}

function refused(...faults: readonly PackageFault[]): Tree {
  return { kind: 'refused', faults };
}

type Unreadable = RegistryFailed | { readonly kind: 'refused'; readonly faults: readonly PackageFault[] };

async function fetchAll({ tags, packages }: Needs, known: Collected, registry: Prefetch): Promise<Unreadable | undefined> {
  const listing = tags.map(async (source) => {
    const answer = await registry.tags(source);
    // A missing repository has no versions: the resolution names the package that requires it.
    const isAbsent = answer.kind === 'failed' && answer.failure.kind === 'absent';
    if (answer.kind === 'failed' && !isAbsent) return answer;
    known.tags.set(source, answer.kind === 'ok' ? answer.tags : []);
    return undefined;
  });
  const reading = packages.map(async (release) => {
    const read = await readRelease(release, registry);
    if (!('kind' in read)) known.packages.set(keyOf(release), read);
    else if (isLasting(read)) known.broken.set(keyOf(release), read);
    else return read;
    return undefined;
  });
  const ended = await Promise.all([...listing, ...reading]);
  return ended.find((one) => one !== undefined);
}

/** Whether the fault lasts: then the tree may do without the package. If a registry does not answer, its contents are not known. */
function isLasting(unread: Unreadable): boolean {
  return unread.kind === 'refused' || unread.failure.kind !== 'unavailable';
}

async function readRelease(release: Release, registry: Prefetch): Promise<Read | Unreadable> {
  const answer = await registry.digest(release);
  if (answer.kind === 'failed') return answer;
  const { digest } = answer;
  const inspection = inspect(registry.webhookFaults);
  const read = await registry.read(release.source, digest, inspection.take);
  if (read.kind === 'failed') return read.failure.kind === 'invalid' ? invalid(read.failure.message) : read;
  const contents = inspection.done();
  if (typeof contents === 'string') return invalid(`${release.source}@${digest}: ${contents}`);
  registry.ahead(contents.meta);
  return { digest, meta: contents.meta, contents };
}

function invalid(message: string): Unreadable {
  return { kind: 'refused', faults: [packageFault('InvalidPackage', message)] };
}

function treeOf({ packages, lock }: Resolution & { kind: 'resolved' }, known: Collected, root: Read, query: TreeQuery): Tree {
  const all = packages.map((one): TreePackage => ({ ...one, contents: contentsOf(one, known, root) }));
  const { crossplane, ignoresCrossplane } = query;
  const checked = all.filter(({ change }) => !(change === 'root' && ignoresCrossplane));
  const faults = [
    ...sharedObjects(all.map(({ source, contents }) => ({ source, objects: contents?.objects ?? [] }))),
    ...(crossplane === undefined ? [] : crossplaneFaults(checked, crossplane)),
  ];
  return faults.length > 0 ? refused(...faults) : { kind: 'resolved', packages: all, lock };
}

function contentsOf({ change, source, tag, digest }: Resolved, known: Collected, root: Read): Contents | undefined {
  if (change === 'root') return root.contents;
  return change === 'kept' ? undefined : known.packages.get(keyOf({ source, version: tag ?? digest ?? '' }))?.contents;
}
