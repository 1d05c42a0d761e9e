// ImageConfigs of Crossplane that require a signature. The hook verifies none. A package whose image must be signed is refused: to
// install it unverified would break the promise of the ImageConfig.
import { at, type JsonObject, objectsAt, textAt } from '../../objects/json.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import { quoted } from '../model/package.ts';
import type { Changed } from '../writes/changed.ts';
import { imageConfigs } from '../writes/resources.ts';
import { list, type PackageReader } from './read.ts';

/** One fault for each package whose image an ImageConfig wants to be verified. */
export async function unverifiedImages(reader: PackageReader, packages: readonly Changed[]): Promise<readonly PackageFault[]> {
  const all = await list(reader, imageConfigs, undefined, { whole: true });
  const verifying = all.filter((config) => at(config, 'spec', 'verification') !== undefined);
  return packages.flatMap((one) => {
    const config = verifying.find((config) => matches(config, one.package));
    if (config === undefined) return [];
    const name = quoted(textAt(config, 'metadata', 'name'));
    return [
      packageFault(
        'InvalidPackage',
        `${one.package}: ImageConfig ${name} requires a verified signature, and package transactions verify none`,
      ),
    ];
  });
}

function matches(config: JsonObject, image: string): boolean {
  return objectsAt(config, 'spec', 'matchImages').some((match) => image.startsWith(textAt(match, 'prefix') ?? '/'));
}
