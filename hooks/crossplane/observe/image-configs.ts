// Whether the packages that change are signed as ImageConfigs require.
import type { PackageFault } from '../model/fault.ts';
import { isDigest, readReference } from '../model/reference.ts';
import type { RegistryFailed } from '../registry.ts';
import type { Changed } from '../writes/changed.ts';
import type { Images } from './images.ts';
import { checkAll, type Progress } from './progress.ts';

/** The image of a package that changes, by digest. */
export function imageOf({ source, digest, package: given }: Changed) {
  const read = readReference(given);
  const tag = read?.tag ?? (isDigest(read?.version ?? '') ? undefined : read?.version);
  return { source, version: digest, tag };
}

/** A fault for each package whose image is not signed. */
export async function unsignedPackages(
  images: Images,
  packages: readonly Changed[],
  progress: Progress,
): Promise<readonly PackageFault[] | RegistryFailed | 'unfinished'> {
  for (const one of packages) images.remember(imageOf(one));
  const found = await checkAll(
    packages,
    ({ source, digest }) => `signed ${source} ${digest}`,
    async (one) => {
      const fault = await images.unsigned(imageOf(one));
      return fault === undefined ? [] : [fault];
    },
    progress,
  );
  if (found === 'unfinished') return found;
  const faults = found.filter((one) => 'reason' in one);
  return faults.length > 0 ? faults : (found.find((one) => 'kind' in one) ?? []);
}
