// Trees of packages in short: `a@1 = b>=1 c:2` is version v1.0.0 of a, which requires b and c.

import { createHash } from 'node:crypto';
import { type Installed, lockEntry, readLock } from '../../hooks/crossplane/model/lock.ts';
import { revisionName } from '../../hooks/crossplane/model/names.ts';
import type { Dependency, Meta, PackageKind } from '../../hooks/crossplane/model/package.ts';
import { readSource } from '../../hooks/crossplane/model/reference.ts';
import { keyOf, type RegistryData, type Release } from '../../hooks/crossplane/resolve/package-index.ts';
import { type Question, type Resolution, resolve } from '../../hooks/crossplane/resolve/resolution.ts';

const registry = 'registry.example.org/acme';

/** By name, version and what it requires. */
export interface World {
  readonly releases: readonly Described[];
  readonly installed: readonly ({ readonly name: string; readonly version: string } & Pick<Installed, 'applied' | 'mayGoBack'>)[];
  readonly root: { readonly name: string; readonly version: string };
}

export interface Described {
  readonly name: string;
  readonly version: string;
  readonly requires: readonly { readonly name: string; readonly constraints: string; readonly kind?: PackageKind }[];
  readonly kind?: PackageKind;
}

export function sourceOf(name: string): string {
  const source = `${registry}/${name}`;
  if (readSource(source) === undefined) throw new Error(`${source} is no source`);
  return source;
}

export function digestOf(name: string, version: string): string {
  return `sha256:${createHash('sha256').update(`${name} ${version}`).digest('hex')}`;
}

function metaOf({ name, requires, kind = 'Provider' }: Described): Meta {
  const dependencies = requires.map(
    (one): Dependency => ({ package: sourceOf(one.name), kind: one.kind ?? 'Provider', constraints: one.constraints }),
  );
  return { kind, name, labels: {}, dependencies, crossplane: undefined, capabilities: [] };
}

export function knownOf(releases: readonly Described[]): RegistryData {
  const names = [...new Set(releases.flatMap(({ name, requires }) => [name, ...requires.map((one) => one.name)]))];
  const tagsOf = (name: string) => releases.filter((one) => one.name === name).map(({ version }) => version);
  const fetched = releases.flatMap((one) => {
    const digest = digestOf(one.name, one.version);
    const found = { digest, meta: metaOf(one) };
    return [one.version, digest].map((version) => [keyOf({ source: sourceOf(one.name), version }), found] as const);
  });
  return { tags: new Map(names.map((name) => [sourceOf(name), tagsOf(name)])), packages: new Map(fetched), broken: new Set() };
}

export function questionOf({ releases, installed, root }: World): Question {
  const described = (name: string, version: string): Described => {
    const found = releases.find((one) => one.name === name && one.version === version);
    if (found === undefined) throw new Error(`${name} ${version} is not there`);
    return found;
  };
  const lock = { packages: installed.map(({ name, version }) => entryOf(described(name, version))) };
  const entries = readLock(lock);
  if (typeof entries === 'string') throw new Error(entries);
  return {
    installed: entries.map((entry, index) => ({ ...entry, ...saidOf(installed[index]) })),
    root: {
      source: sourceOf(root.name),
      name: root.name,
      version: root.version,
      digest: digestOf(root.name, root.version),
      meta: metaOf(described(root.name, root.version)),
      skipsDependencies: false,
    },
  };
}

function saidOf({ applied, mayGoBack }: Partial<World['installed'][number]> = {}): Pick<Installed, 'applied' | 'mayGoBack'> {
  return { ...(applied !== undefined && { applied }), ...(mayGoBack && { mayGoBack }) };
}

function entryOf(one: Described): ReturnType<typeof lockEntry> {
  const digest = digestOf(one.name, one.version);
  const entry: Omit<Installed, 'entry'> = {
    name: revisionName(one.name, digest),
    source: sourceOf(one.name),
    tag: one.version,
    digest,
    dependencies: metaOf(one).dependencies,
  };
  return lockEntry(entry, one.kind ?? 'Provider');
}

/** Gives only the values that its caller reads. */
export function resolveByNeeds(
  question: Question,
  all: RegistryData,
): { readonly resolution: Resolution; readonly read: readonly Release[] } {
  const known = { tags: new Map<string, readonly string[]>(), packages: new Map(), broken: all.broken, read: [] as Release[] };
  for (let rounds = 0; rounds < 1_000; rounds += 1) {
    const resolution = resolve(question, known);
    if (resolution.kind !== 'needs') return { resolution, read: known.read };
    for (const source of resolution.tags) known.tags.set(source, all.tags.get(source) ?? []);
    for (const release of resolution.packages) {
      known.read.push(release);
      known.packages.set(keyOf(release), all.packages.get(keyOf(release)));
    }
  }
  throw new Error('it needs more without end');
}

/** `b>=1 c<2` as demands. */
export function release(text: string): Described {
  const [, name = '', version = '', requires = ''] = /^([\w-]+)@(\S+)(?: = (.*))?$/.exec(text) ?? [];
  const demands = requires === '' ? [] : requires.split('; ').map((one) => /^([\w-]+) (.*)$/.exec(one));
  return { name, version, requires: demands.map((found) => ({ name: found?.[1] ?? '', constraints: found?.[2] ?? '' })) };
}

export function chosenOf(resolution: Resolution): Readonly<Record<string, string>> | string {
  if (resolution.kind === 'refused') return resolution.fault.reason;
  if (resolution.kind !== 'resolved') return resolution.kind;
  const short = (source: string): string => source.slice(registry.length + 1);
  return Object.fromEntries(resolution.packages.map(({ source, tag, digest }) => [short(source), tag ?? digest ?? '']));
}
