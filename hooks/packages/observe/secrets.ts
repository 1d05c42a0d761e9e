// The pull secrets that the wanted package names, from the namespace of packages.
import { at, isList, textAt } from '../../objects/json.ts';
import type { PackageFault } from '../model/fault.ts';
import { packageFault } from '../model/fault.ts';
import { quoted } from '../model/package.ts';
import type { Wanted } from '../model/package-transaction.ts';
import { secrets } from '../writes/resources.ts';
import { find, type PackageReader } from './read.ts';

export async function pullSecretsOf(reader: PackageReader, { spec }: Wanted): Promise<readonly string[] | PackageFault> {
  const named = at(spec, 'packagePullSecrets');
  const names = (isList(named) ? named : []).map((one) => textAt(one, 'name') ?? '');
  const found: string[] = [];
  for (const name of names) {
    const secret = await find(reader, { resource: secrets, namespace: reader.namespace, name });
    const encoded = textAt(secret, 'data', '.dockerconfigjson');
    if (encoded === undefined)
      return packageFault(
        'InvalidPackage',
        `packagePullSecrets: expected a Secret ${quoted(name)} of type kubernetes.io/dockerconfigjson in namespace ${reader.namespace}, found ${secret === undefined ? 'none' : 'one of another type'}`,
      );
    found.push(Buffer.from(encoded, 'base64').toString());
  }
  return found;
}
