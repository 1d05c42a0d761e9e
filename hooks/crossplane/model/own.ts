// A Package that makes its own package transactions: one for each generation of it.
import { createHash } from 'node:crypto';
import { at, type JsonObject, textAt } from '../../objects/json.ts';
import { type PackageKind, packageApiVersion } from './package.ts';

/**
 * Which Packages make their own package transactions.
 * - `none`: no Package does.
 * - `annotated`: a Package with the annotation.
 * - `all`: each Package.
 */
export const ownModes = { none: 'none', annotated: 'annotated', all: 'all' } as const;

export type OwnMode = keyof typeof ownModes;

export const ownAnnotation = 'pkg.crossplane.io/own-transactions';

/** The annotation of a Package that makes its own package transactions. */
export const optedIn: JsonObject = { [ownAnnotation]: 'true' };

/** The label of a package transaction with the uid of the Package that made it. Two Packages can have one name, one after the other. */
export const packageUidLabel = 'packages.janus.io/package-uid';

export function makesOwn(mode: OwnMode, pkg: JsonObject): boolean {
  return mode === 'all' || (mode === 'annotated' && textAt(pkg, 'metadata', 'annotations', ownAnnotation) === 'true');
}

/** A package transaction has at most 63 characters in its name: `tx-`, these, `-`, and the hash. */
const longestStem = 51;
const hashLetters = 8;

/**
 * The name of the package transaction for the present generation of a Package: equal for each call, and for each process. `activated`:
 * the uid of the revision that a user has made Active.
 */
export function ownName(kind: PackageKind, pkg: JsonObject, activated?: string): string {
  const name = textAt(pkg, 'metadata', 'name') ?? '';
  const generation = at(pkg, 'metadata', 'generation');
  const text = `${packageApiVersion}/${kind}/${name}/gen-${typeof generation === 'number' ? generation : 0}`;
  const whole = activated === undefined ? text : `${text}/revision-${activated}`;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, hashLetters);
  // A part of a name ends with a letter or a digit.
  return `tx-${name.slice(0, longestStem).replace(/[-.]+$/, '')}-${hash}`;
}

/** What a package transaction says about its Package: replaces parts of the condition Installed. */
export interface OwnCondition {
  /**
   * If absent, the revisions say whether the Package is installed. `True`: the generation before is, while a package transaction
   * installs the present one.
   */
  readonly status?: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}
