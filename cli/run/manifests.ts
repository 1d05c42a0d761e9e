// The manifests that the command line names.
import type { Call } from '../command/command.ts';
import { sifted } from '../input/order-annotations.ts';
import { type Manifest, readManifests } from '../input/read.ts';
import { note } from '../io.ts';
import { sourcesOf } from './given.ts';

/** Says what becomes of the annotations by which other tools order objects. Throws a Problem. */
export async function manifestsOf({ io, options }: Call): Promise<readonly Manifest[]> {
  const { manifests, notes } = sifted(await readManifests(sourcesOf(options), io), options.text('helmHooks') === 'ignore');
  for (const one of notes) note(io, one);
  return manifests;
}
