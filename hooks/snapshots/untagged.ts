// Entries of snapshots that an engine stored which did not tag them: of Transactions from before. The digest in the status is all
// that holds them, so that what they are about, and how it is served, must come from elsewhere: spec and discovery.

import { isSealed } from '../model/entry.ts';
import type { Packer } from '../model/packer.ts';
import { identityOf } from '../model/reference.ts';
import type { Transaction } from '../model/transaction.ts';
import { type Decoded, type Place, readEntry } from './codec.ts';

/** Whether what belongs to that Transaction may lack a tag. */
export function mayLackTags({ createdAt }: Pick<Transaction, 'createdAt'>, packer: Packer): boolean {
  return createdAt < packer.taggedSince();
}

/** Undefined when the text is not the entry of that change. */
export function decodeUntagged(text: string, place: Place, packer: Packer, most: number): Decoded | undefined {
  const plain = unpack(text, place, packer, most);
  return plain === undefined || plain.length > most ? undefined : readEntry(plain, place);
}

function unpack(text: string, place: Place, packer: Packer, most: number): string | undefined {
  const { transaction, index, target } = place;
  const context = `${transaction.uid}/${index}/${identityOf(target)}`;
  if (text.startsWith('sealed:')) return packer.open(text.slice('sealed:'.length), context, most);
  if (isSealed(target, transaction.namespace)) return undefined;
  return text.startsWith('compressed:') ? packer.expand(text.slice('compressed:'.length), most) : text;
}

/** The context of an item's drift that was sealed without its type. */
export function untaggedDriftContext({ transaction, index, target }: Place): string {
  return `drift/${transaction.uid}/${index}/${identityOf(target)}`;
}
