// Which packages do not run on the installed version of Crossplane.

import { admits, readConstraint } from '../model/constraint.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import { type Meta, quoted } from '../model/package.ts';
import type { Version } from '../model/version.ts';

/**
 * One fault for each package that does not admit this version. A package that stays as it is has no meta, and the hook does not
 * check it.
 */
export function crossplaneFaults(
  packages: readonly { readonly source: string; readonly meta: Meta | undefined }[],
  version: Version,
): readonly PackageFault[] {
  return packages.flatMap(({ source, meta }) => {
    const range = meta?.crossplane;
    const constraint = range === undefined ? undefined : readConstraint(range);
    if (constraint === undefined || admits(constraint, version)) return [];
    return [
      packageFault('VersionConflict', `${source} requires Crossplane ${quoted(range)}, but its version is ${version.text}`),
    ];
  });
}
