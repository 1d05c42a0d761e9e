// What a package transaction with `spec.dryRun` would change.
import { cut, storedSize } from '../../objects/words.ts';

/** In the order of the list. `HandOver`: another revision controls the object. `None`: the package is installed again as it is. */
export const plannedOperations = ['Delete', 'Release', 'Keep', 'HandOver', 'Update', 'Create', 'None'] as const;

type PlannedOperation = (typeof plannedOperations)[number];

export interface PlannedPackage {
  readonly operation: PlannedOperation;
  readonly kind: string;
  /** The name of the package object. */
  readonly name: string;
  readonly source: string;
  /** Versions as the Lock has them. */
  readonly from?: string;
  readonly to?: string;
  /** The source of the package that takes its place. */
  readonly replacedBy?: string;
  /** The packages that require it after the change. */
  readonly requiredBy: readonly { readonly package: string; readonly constraints: string }[];
}

export interface PlannedObject {
  readonly operation: PlannedOperation;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** The revision that controls the object; of a revision, its state. */
  readonly from?: string;
  readonly to?: string;
}

export interface PackagePlan {
  readonly packages: readonly PlannedPackage[];
  /** Package objects are not among them. */
  readonly objects: readonly PlannedObject[];
  /** Objects that are as the packages hold them. */
  readonly unchanged: number;
  /** Packages and objects without room in the lists. */
  readonly unlisted: number;
}

export const planLimits = { packages: 500, objects: 2_000, requiredBy: 20, constraints: 256 } as const;

/** The limit of the lists. The status holds the packages of the Lock and the conditions as well, and the API server stores 1.5 MiB. */
const mostBytes = 250_000;

/** The lists as far as they have room. Deletions come first. */
export function boundedPlan({ packages, objects, unchanged }: Omit<PackagePlan, 'unlisted'>): PackagePlan {
  let room = mostBytes;
  const fits = (one: object): boolean => {
    room -= storedSize(one);
    return room >= 0;
  };
  const ranked = objects.toSorted((left, right) => rankOf(left) - rankOf(right));
  const listed = packages.slice(0, planLimits.packages).map(shortened).filter(fits);
  const others = ranked.slice(0, planLimits.objects).filter(fits);
  const unlisted = packages.length - listed.length + objects.length - others.length;
  return { packages: listed, objects: others, unchanged, unlisted };
}

function rankOf({ operation }: PlannedObject): number {
  return plannedOperations.indexOf(operation);
}

function shortened(one: PlannedPackage): PlannedPackage {
  const shown = one.requiredBy.slice(0, planLimits.requiredBy);
  return { ...one, requiredBy: shown.map((by) => ({ ...by, constraints: cut(by.constraints, planLimits.constraints) })) };
}
