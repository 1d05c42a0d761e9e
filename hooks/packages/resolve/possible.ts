// Every version that a solution could hold, so that the search tries no others and reads no other packages. In a solution, a package
// has the version that the rule gives for the demands of packages in the solution. So, beginning with the root: all demands of what
// was found so far, and for each package every version that the rule gives for some of them, those of the root included.
import { candidatesFor, isAdmitted, standing, targetOf } from './choice.ts';
import { dependenciesOf, type Scene } from './graph.ts';
import type { Knowledge } from './knowledge.ts';

/** A tag or a digest; undefined stands for the installed version. */
export type Option = string | undefined;

interface Possible {
  /** By source. */
  readonly options: ReadonlyMap<string, readonly Option[]>;
  /** False if there are more than may be read. */
  readonly isWhole: boolean;
}

interface Collecting {
  readonly scene: Scene;
  readonly knowledge: Knowledge;
  readonly mostLooked: number;
  /** The constraints for each source. */
  readonly asked: Map<string, Set<string>>;
  readonly options: Map<string, readonly Option[]>;
  readonly reached: Set<string>;
  /** How many constraints there were when the options of a source were collected. */
  readonly weighed: Map<string, number>;
}

interface Release {
  readonly source: string;
  readonly option: Option;
}

/**
 * Looks up at most so many packages. Undefined if the knowledge lacks some: they are requested together. It goes by levels, so that
 * the same packages are looked up whatever is known at first.
 */
export function possibleOptions(scene: Scene, knowledge: Knowledge, mostLooked: number): Possible | undefined {
  const collecting: Collecting = {
    ...{ scene, knowledge, mostLooked },
    ...{ asked: new Map(), options: new Map(), reached: new Set(), weighed: new Map() },
  };
  for (const { dependencies } of scene.installed.values()) note(dependencies, collecting);
  let level: readonly Release[] = [{ source: scene.root.source, option: undefined }];
  let isWhole = true;
  while (level.length > 0 && isWhole) {
    isWhole = level.every((release) => take(release, collecting));
    level = isWhole ? nextLevel(collecting) : [];
    if (knowledge.needs() !== undefined) return undefined;
  }
  return { options: collecting.options, isWhole };
}

/** Of the packages for which there are new demands. */
function nextLevel(collecting: Collecting): readonly Release[] {
  const { asked, reached, weighed } = collecting;
  const grown = [...reached].filter((source) => weighed.get(source) !== asked.get(source)?.size).sort();
  for (const source of grown) weighed.set(source, asked.get(source)?.size ?? 0);
  return grown.flatMap((source) => newOptions(source, collecting));
}

function note(dependencies: ReturnType<typeof dependenciesOf>, { asked }: Collecting): void {
  for (const { package: source, constraints } of dependencies)
    asked.set(source, (asked.get(source) ?? new Set()).add(constraints));
}

/** Adds the release, and what it requires; false if no more may be looked up. */
function take({ source, option }: Release, collecting: Collecting): boolean {
  const { scene, knowledge, mostLooked, options, reached } = collecting;
  if (option !== undefined && knowledge.looked() >= mostLooked) return false;
  options.set(source, [...(options.get(source) ?? []), option]);
  const choice = new Map(option === undefined ? [] : [[source, option]]);
  const dependencies = dependenciesOf(source, scene, choice, knowledge);
  note(dependencies, collecting);
  for (const { package: required } of dependencies) if (required !== scene.root.source) reached.add(required);
  return true;
}

function newOptions(source: string, collecting: Collecting): readonly Release[] {
  const known = collecting.options.get(source) ?? [];
  return optionsFor(source, collecting)
    .filter((option) => !known.includes(option))
    .map((option) => ({ source, option }));
}

/**
 * The versions that the rule gives for some of the demands. Of all sets of demands that admit a version, the largest one excludes the
 * most others: if the rule gives another version for that one, it never gives this one.
 */
function optionsFor(source: string, { scene, knowledge, asked }: Collecting): readonly Option[] {
  const demands = [...(asked.get(source) ?? [])].sort().map((constraints) => ({ constraints }));
  const root = dependenciesOf(scene.root.source, scene, new Map(), knowledge);
  const ofRoot = root.filter((one) => one.package === source).map(({ constraints }) => constraints);
  const weighed = new Set<string>();
  return candidates(source, demands, scene, knowledge).filter((option) => {
    const admitting = demands.filter((demand) => isAdmitted(standing(source, option, scene), [demand], knowledge));
    const key = JSON.stringify(admitting);
    const isRefused = ofRoot.some((constraints) => !admitting.some((one) => one.constraints === constraints));
    if (admitting.length === 0 || isRefused || weighed.has(key)) return false;
    weighed.add(key);
    const target = targetOf(source, admitting, scene, knowledge);
    return target.kind === 'kept' ? option === undefined : target.kind === 'version' && target.version === option;
  });
}

function candidates(
  source: string,
  demands: readonly { readonly constraints: string }[],
  scene: Scene,
  knowledge: Knowledge,
): readonly Option[] {
  const installed = scene.installed.get(source);
  if (installed !== undefined && isAdmitted(installed, demands, knowledge)) return [undefined];
  const digests = demands.map(({ constraints }) => constraints).filter((text) => text.startsWith('sha256:'));
  const tags = digests.length === demands.length ? [] : (candidatesFor(source, installed, knowledge) ?? []);
  return [...(installed === undefined ? [] : [undefined]), ...digests, ...tags];
}
