// Opens the registries of a wanted package: with its pull secrets, and as ImageConfigs say.
import { listAt, textAt } from '../../objects/json.ts';
import type { PackageParts } from '../call.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import type { Wanted } from '../model/package-transaction.ts';
import { openImages } from './images.ts';
import { dockerConfigIn } from './materials.ts';
import type { PackageReader } from './read.ts';

/** `deadline`: ms in which the hook reads from registries. */
export type Registries = Pick<PackageParts, 'openRegistry' | 'clock' | 'deadline' | 'authority' | 'trustedRoot'>;

export async function openRegistryOf(reader: PackageReader, registries: Registries, wanted: Wanted) {
  const { openRegistry: open, clock, deadline, authority, trustedRoot } = registries;
  const until = clock.monotonic() + deadline;
  const left = (): number => until - clock.monotonic();
  const pullSecrets = await pullSecretsOf(reader, wanted);
  if ('reason' in pullSecrets) return pullSecrets;
  const images = await openImages({ reader, open, root: wanted.reference.source, pullSecrets, authority, trustedRoot, left });
  return 'reason' in images ? images : { registry: images, isOver: () => left() <= 0 };
}

/** The pull secrets that the wanted package names, from the namespace of packages. */
async function pullSecretsOf(reader: PackageReader, { spec }: Wanted): Promise<readonly string[] | PackageFault> {
  const found: string[] = [];
  for (const one of listAt(spec, 'packagePullSecrets')) {
    const login = await dockerConfigIn(reader, textAt(one, 'name') ?? '');
    if (typeof login === 'object') return packageFault('InvalidPackage', `packagePullSecrets: ${login.fault}`);
    found.push(login);
  }
  return found;
}
