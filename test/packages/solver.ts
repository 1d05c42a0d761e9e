// Every choice of versions, one after the other, held against the rule of docs/packages.md. By definition, not by steps.
import { admits, readConstraint } from '../../hooks/crossplane/model/constraint.ts';
import { compareVersions, readCompleteVersion, type Version } from '../../hooks/crossplane/model/version.ts';
import { type Described, digestOf, type World } from './trees.ts';

type Solution = Readonly<Record<string, string>>;

export function solutionsOf(world: World): readonly Solution[] {
  const others = [...new Set(world.releases.map(({ name }) => name))].filter((name) => name !== world.root.name);
  const choices = others.reduce<readonly Solution[]>(
    (made, name) => made.flatMap((one) => [one, ...optionsOf(world, name).map((version) => ({ ...one, [name]: version }))]),
    [{ [world.root.name]: world.root.version }],
  );
  return choices.filter((choice) => isSolution(world, choice));
}

function versionsOf({ releases }: World, name: string): readonly Version[] {
  const found = releases.filter((one) => one.name === name).map(({ version }) => readCompleteVersion(version));
  return found.filter((version) => version !== undefined);
}

/** Tags, and the digests that are demanded. */
function optionsOf(world: World, name: string): readonly string[] {
  const demanded = world.releases.flatMap(({ requires }) => requires.filter((one) => one.name === name));
  const digests = demanded.map(({ constraints }) => constraints).filter(isDigest);
  return [...versionsOf(world, name).map(({ text }) => text), ...new Set(digests)];
}

function isDigest(text: string): boolean {
  return text.startsWith('sha256:');
}

function requiresOf({ releases }: World, name: string, version: string | undefined): Described['requires'] {
  const found = releases.find((one) => one.name === name && [one.version, digestOf(name, one.version)].includes(version ?? ''));
  return found?.requires ?? [];
}

function isSolution(world: World, choice: Solution): boolean {
  const bystanders = world.installed.filter(({ name }) => choice[name] === undefined);
  const asked = [
    ...Object.entries(choice).flatMap(([name, version]) => requiresOf(world, name, version)),
    ...bystanders.flatMap(({ name, version }) => requiresOf(world, name, version)),
  ];
  const isNeeded = (name: string): boolean => reachedFrom(world, choice, world.root.name).has(name);
  const isRight = ([name, version]: readonly [string, string]): boolean => {
    const demands = asked.filter((one) => one.name === name).map(({ constraints }) => constraints);
    return version === (demands.some(isDigest) ? pinned : wanted)(world, name, demands);
  };
  const isWhole = [...reachedFrom(world, choice, world.root.name)].every((name) => choice[name] !== undefined);
  return isWhole && Object.keys(choice).every(isNeeded) && Object.entries(choice).every(isRight) && !isCircular(world, choice);
}

function reachedFrom(world: World, choice: Solution, start: string): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const name of reached) for (const one of requiresOf(world, name, choice[name])) reached.add(one.name);
  return reached;
}

function isCircular(world: World, choice: Solution): boolean {
  return Object.keys(choice).some((name) =>
    requiresOf(world, name, choice[name]).some((one) => reachedFrom(world, choice, one.name).has(name)),
  );
}

function wanted(world: World, name: string, demands: readonly string[]): string | undefined {
  const suits = (version: Version): boolean =>
    demands.every((text) => {
      const constraint = readConstraint(text);
      return constraint !== undefined && admits(constraint, version);
    });
  if (name === world.root.name) return readAs(world.root.version, suits);
  const rising = [...versionsOf(world, name)].sort(compareVersions).filter(suits);
  const entry = world.installed.find((one) => one.name === name);
  const installed = readCompleteVersion(entry?.version ?? '');
  if (installed === undefined) return rising.at(-1)?.text;
  const isInstalled = rising.some(({ text }) => text === entry?.version);
  const applied = rising.find(({ text }) => text === entry?.applied);
  const higher = rising.find((version) => compareVersions(version, installed) >= 0);
  const lower = entry?.mayGoBack === true ? rising.findLast((version) => compareVersions(version, installed) < 0) : undefined;
  return (isInstalled ? entry?.version : undefined) ?? (applied ?? higher ?? lower)?.text;
}

/** One of the demands is a digest. */
function pinned(world: World, name: string, demands: readonly string[]): string | undefined {
  const present = [...world.installed.filter((one) => one.name !== world.root.name), world.root].find((one) => one.name === name);
  const ranges = demands.filter((one) => !isDigest(one));
  const digests = new Set(demands.filter(isDigest));
  const [digest = ''] = digests;
  const isPresent = digests.size === 1 && present !== undefined && digestOf(name, present.version) === digest;
  if (isPresent && present.version === wanted({ ...world, installed: [present] }, name, ranges)) return present.version;
  return digests.size === 1 && ranges.length === 0 && name !== world.root.name ? digest : undefined;
}

function readAs(text: string, suits: (version: Version) => boolean): string | undefined {
  const version = readCompleteVersion(text);
  return version !== undefined && suits(version) ? text : undefined;
}
