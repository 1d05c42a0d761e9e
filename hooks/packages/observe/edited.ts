// Whether the Package that made a package transaction is another one now: then it makes the next package transaction, and a try that
// cannot go on is no failure.
import { isTerminating } from '../../objects/content/ownership.ts';
import { at, equalJson, type JsonObject, textAt } from '../../objects/json.ts';
import { installOf, type PackageTransaction, type Wanted } from '../model/package-transaction.ts';
import { packagesOfKind } from '../writes/resources.ts';
import { find, type PackageReader } from './read.ts';

/** Why the try is abandoned, in words. Undefined if no Package made the package transaction, or if it is as it was. */
export async function readEdited(reader: PackageReader, ptx: PackageTransaction): Promise<string | undefined> {
  const wanted = installOf(ptx);
  if (wanted === undefined || ptx.packageUid === undefined) return undefined;
  const { kind, name } = wanted;
  return editedSince(ptx, wanted, await find(reader, { resource: packagesOfKind(kind), name }));
}

/** `live`: the Package. */
export function editedSince(
  { packageUid }: PackageTransaction,
  wanted: Wanted,
  live: JsonObject | undefined,
): string | undefined {
  if (packageUid === undefined) return undefined;
  const isThere = textAt(live, 'metadata', 'uid') === packageUid && !isTerminating(live);
  if (isThere && equalJson(at(live, 'spec'), wanted.spec)) return undefined;
  return `${wanted.kind} ${wanted.name} was changed or deleted since: its next package transaction installs what it is then`;
}
