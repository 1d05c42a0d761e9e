// Every choice of versions, one after the other, held against the rule of docs/packages.md. By definition, not by steps.
import { admits, readConstraint } from '../../hooks/packages/model/constraint.ts';
import { compareVersions, readCompleteVersion, type Version } from '../../hooks/packages/model/version.ts';
import type { Described, World } from './trees.ts';

type Solution = Readonly<Record<string, string>>;

export function solutionsOf(world: World): readonly Solution[] {
  const others = [...new Set(world.releases.map(({ name }) => name))].filter((name) => name !== world.root.name);
  const choices = others.reduce<readonly Solution[]>(
    (made, name) => made.flatMap((one) => [one, ...versionsOf(world, name).map((version) => ({ ...one, [name]: version.text }))]),
    [{ [world.root.name]: world.root.version }],
  );
  return choices.filter((choice) => isSolution(world, choice));
}

function versionsOf({ releases }: World, name: string): readonly Version[] {
  const found = releases.filter((one) => one.name === name).map(({ version }) => readCompleteVersion(version));
  return found.filter((version) => version !== undefined);
}

function requiresOf({ releases }: World, name: string, version: string | undefined): Described['requires'] {
  return releases.find((one) => one.name === name && one.version === version)?.requires ?? [];
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
    return version === wanted(world, name, demands);
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
  const installed = readCompleteVersion(world.installed.find((one) => one.name === name)?.version ?? '');
  if (installed === undefined) return rising.at(-1)?.text;
  return rising.find((version) => compareVersions(version, installed) >= 0)?.text;
}

function readAs(text: string, suits: (version: Version) => boolean): string | undefined {
  const version = readCompleteVersion(text);
  return version !== undefined && suits(version) ? text : undefined;
}
