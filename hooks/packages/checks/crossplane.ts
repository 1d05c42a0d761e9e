// Which packages do not run on the Crossplane that is there.

import { admits, readConstraint } from '../model/constraint.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import type { Meta } from '../model/package.ts';
import { quoted } from '../model/package.ts';
import type { Version } from '../model/version.ts';

/** One fault for each package that asks for another version than this. Of what stays as it is no meta is known, and nothing is asked. */
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
