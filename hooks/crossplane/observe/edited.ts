// Whether the Package that a package transaction installs is another one now, and makes the next package transaction: then a try that cannot
// go on is no failure.
import { isTerminating } from '../../objects/content/ownership.ts';
import { at, equalJson, type JsonObject, textAt } from '../../objects/json.ts';
import { makesOwn, type OwnMode } from '../model/own.ts';
import { installOf, type PackageTransaction, type Wanted } from '../model/package-transaction.ts';
import { packagesOfKind } from '../writes/resources.ts';
import { find, type PackageReader } from './read.ts';

/** Why the try is abandoned, in words. Undefined if no Package made the package transaction, or if it is as it was. */
export async function readEdited(reader: PackageReader, ptx: PackageTransaction): Promise<string | undefined> {
  const wanted = installOf(ptx);
  if (wanted === undefined || ptx.packageUid === undefined) return undefined;
  return editedSince(ptx, wanted, await readRoot(reader, wanted));
}

/** Once a package transaction that somebody else made has written the Package, a user may write another version, which installs itself. */
export async function readRewritten(
  reader: PackageReader,
  ptx: PackageTransaction,
  mode: OwnMode = 'none',
): Promise<string | undefined> {
  const wanted = installOf(ptx);
  if (wanted === undefined || ptx.packageUid !== undefined) return readEdited(reader, ptx);
  const live = await readRoot(reader, wanted);
  const isOther = live !== undefined && textAt(live, 'spec', 'package') !== textAt(wanted.spec, 'package');
  return isOther && makesOwn(mode, live) ? wordsOf(wanted) : undefined;
}

function readRoot(reader: PackageReader, { kind, name }: Wanted): Promise<JsonObject | undefined> {
  return find(reader, { resource: packagesOfKind(kind), name });
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
  return wordsOf(wanted);
}

function wordsOf({ kind, name }: Wanted): string {
  return `${kind} ${name} was changed or deleted since: its next package transaction installs what it is then`;
}
