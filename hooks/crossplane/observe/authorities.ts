// The authorities of an ImageConfig, with the public keys that it names.
import type { JsonObject } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { allOrFault } from '../model/fault.ts';
import { quoted } from '../model/package.ts';
import { type DescribedAuthority, readAuthorities, type SigningAuthority } from '../model/signing-authority.ts';
import { materialIn } from './materials.ts';
import type { PackageReader } from './read.ts';

/** A fault is in words: a Secret that does not exist is a fault, even if another authority has signed. */
export async function authoritiesOf(
  reader: PackageReader,
  verification: JsonObject,
): Promise<readonly SigningAuthority[] | string> {
  const described = readAuthorities(verification);
  return typeof described === 'string' ? described : allOrFault(await inTurn(described, (one) => withKey(reader, one)));
}

async function withKey(reader: PackageReader, authority: DescribedAuthority): Promise<SigningAuthority | string> {
  if (authority.kind === 'keyless') return authority;
  const { secret, ...rest } = authority;
  const publicKey = await materialIn(reader, { kind: 'Secret', ...secret });
  if (publicKey !== undefined) return { ...rest, publicKey };
  const expected = `expected a Secret ${quoted(secret.name)} with the key ${quoted(secret.key)}`;
  return `authority ${quoted(authority.name)}: ${expected} in namespace ${reader.namespace}, found none`;
}
