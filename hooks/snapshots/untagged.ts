// Snapshot entries from an older engine, which did not tag them. Only the digest in the status protects them, so the engine takes
// their target and its resource from the spec and from discovery, not from the entry.

import { isSealed } from '../model/entry.ts';
import type { Packer } from '../model/packer.ts';
import { identityOf } from '../model/reference.ts';
import type { Transaction } from '../model/transaction.ts';
import { type Decoded, type Place, readEntry } from './codec.ts';

/** Whether the Transaction is so old that its stored texts may lack a tag. */
export function mayLackTags({ createdAt }: Pick<Transaction, 'createdAt'>, packer: Packer): boolean {
  return createdAt < packer.taggedSince();
}

/** Undefined if the text is not the entry of that change. */
export function decodeUntagged(text: string, place: Place, packer: Packer, most: number): Decoded | undefined {
  const plain = unpack(text, place, packer, most);
  return plain === undefined || plain.length > most ? undefined : readEntry(plain, place);
}

function unpack(text: string, place: Place, packer: Packer, most: number): string | undefined {
  const { transaction, index, target } = place;
  const context = `${transaction.uid}/${index}/${identityOf(target)}`;
  if (text.startsWith('sealed:')) return packer.open(text.slice('sealed:'.length), context, most);
  if (isSealed(place, transaction)) return undefined;
  return text.startsWith('compressed:') ? packer.expand(text.slice('compressed:'.length), most) : text;
}

/** The context of an item's drift that was sealed without the type of its change. */
export function untaggedDriftContext({ transaction, index, target }: Place): string {
  return `drift/${transaction.uid}/${index}/${identityOf(target)}`;
}
