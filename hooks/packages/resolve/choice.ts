// The rule that chooses a version. For a new dependency: the highest version that all constraints admit. For an installed package:
// the installed one if all constraints admit it, otherwise the lowest above it; never a downgrade. For the root: the requested
// version. A digest admits only itself.
import type { Installed } from '../model/lock.ts';
import { compareVersions, readVersion } from '../model/version.ts';
import type { Scene } from './graph.ts';
import { type Knowledge, satisfies } from './knowledge.ts';

type Target =
  /** The installed version, or the root, stays. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'version'; readonly version: string }
  /** No version satisfies all constraints. */
  | { readonly kind: 'none' }
  /** The tags are not known yet. */
  | { readonly kind: 'unknown' };

interface Demand {
  readonly constraints: string;
}

type Versions = Pick<Installed, 'tag' | 'digest'>;

const kept: Target = { kind: 'kept' };
const none: Target = { kind: 'none' };

export function targetOf(source: string, demands: readonly Demand[], scene: Scene, knowledge: Knowledge): Target {
  const installed = scene.installed.get(source);
  if (source === scene.root.source) return isAdmitted(rootOf(scene), demands, knowledge) ? kept : none;
  if (installed !== undefined && isAdmitted(installed, demands, knowledge)) return kept;
  return newTarget(source, installed, demands, knowledge);
}

function rootOf({ root }: Scene): Versions {
  return { tag: root.version.startsWith('sha256:') ? root.tag : root.version, digest: root.digest };
}

/** The tag and the digest of that choice, as far as they are known without it; undefined stands for the installed version. */
export function standing(source: string, version: string | undefined, scene: Scene): Versions {
  if (source === scene.root.source) return rootOf(scene);
  if (version === undefined) return scene.installed.get(source) ?? { tag: undefined, digest: undefined };
  return version.startsWith('sha256:') ? { tag: undefined, digest: version } : { tag: version, digest: undefined };
}

/** Whether the chosen version of a package satisfies all demands. */
export function isAdmitted({ tag, digest }: Versions, demands: readonly Demand[], knowledge: Knowledge): boolean {
  const version = tag === undefined ? undefined : readVersion(tag);
  return demands.every(({ constraints }) => {
    const constraint = knowledge.constraint(constraints);
    if (constraint.kind === 'digest') return constraint.digest === digest;
    return version !== undefined && satisfies(version, [constraint]);
  });
}

function newTarget(source: string, installed: Installed | undefined, demands: readonly Demand[], knowledge: Knowledge): Target {
  const constraints = demands.map((demand) => knowledge.constraint(demand.constraints));
  const digests = new Set(constraints.flatMap((one) => (one.kind === 'digest' ? [one.digest] : [])));
  if (digests.size > 0)
    return digestTarget(
      digests,
      constraints.every((one) => one.kind === 'digest'),
    );
  const candidates = candidatesFor(source, installed, knowledge);
  if (candidates === undefined) return { kind: 'unknown' };
  const key = JSON.stringify([source, ...demands.map((demand) => demand.constraints)]);
  const found = knowledge.firstAdmitted(key, () =>
    candidates.find((text) => isAdmitted({ tag: text, digest: undefined }, demands, knowledge)),
  );
  return found === undefined ? none : { kind: 'version', version: found };
}

function digestTarget(digests: ReadonlySet<string>, isPure: boolean): Target {
  const [digest, ...others] = digests;
  return digest === undefined || others.length > 0 || !isPure ? none : { kind: 'version', version: digest };
}

/** The tags to choose from, the best first: falling for a new package, rising from the installed version. */
export function candidatesFor(
  source: string,
  installed: Installed | undefined,
  knowledge: Knowledge,
): readonly string[] | undefined {
  const versions = knowledge.versions(source);
  if (installed === undefined) return versions?.map(({ text }) => text);
  const present = installed.tag === undefined ? undefined : readVersion(installed.tag);
  if (present === undefined) return [];
  return versions
    ?.filter((version) => compareVersions(version, present) >= 0)
    .map(({ text }) => text)
    .reverse();
}
