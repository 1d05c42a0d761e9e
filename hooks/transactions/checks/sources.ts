// The faults of a content's source, in words. The words repeat no part of the source's content, nor the API server's message about
// it.
import type { Failure } from '../../objects/failure.ts';
import { limits } from '../../objects/limits.ts';
import { clean } from '../../objects/words.ts';
import type { Source } from '../model/source.ts';
import type { Transaction } from '../model/transaction.ts';
import { type Fault, fault } from './fault.ts';

/** The source of the content of the change `index`. */
export interface Sourced {
  readonly index: number;
  readonly source: Source;
}

const again = 'then recreate the Transaction';

/** The object could not be read, and will not be. */
export function unreadFault({ index, source }: Sourced, { kind, code, reason }: Failure, transaction: Transaction): Fault {
  const { namespace, serviceAccountName } = transaction;
  const object = objectOf(source, transaction);
  if (kind === 'absent') return unavailable(index, `${object} does not exist: create it, ${again}`);
  const who = `ServiceAccount ${namespace}/${serviceAccountName}`;
  if (code === 403) return unavailable(index, `${who} may not get ${object}: allow it, ${again}`);
  return unavailable(index, `${object} could not be read as ${who} (${code} ${reason})`);
}

export function missingKeyFault({ index, source }: Sourced, transaction: Transaction): Fault {
  return unavailable(index, `${objectOf(source, transaction)} has no key "${source.key}": add it, or correct the key, ${again}`);
}

/** `why`: a predicate, such as `is not UTF-8`. */
export function unfitFault({ index, source }: Sourced, why: string, transaction: Transaction): Fault {
  return unavailable(index, `${keyOf(source, transaction)} ${why}; expected one object in JSON or YAML, gzip or not`);
}

/** `found`: the digest of the unpacked bytes. That of a Secret is not shown: short values could be guessed from it. */
export function mismatchFault({ index, source }: Sourced, found: string, transaction: Transaction): Fault {
  const has = source.kind === 'Secret' ? 'another digest' : `the digest ${found}`;
  const message = `${keyOf(source, transaction)} has ${has}, contentFrom.digest requires ${source.digest}: somebody has changed it, or the digest is not that of the unpacked bytes; correct one of them, ${again}`;
  return fault('ContentMismatch', `spec.changes[${index}].contentFrom: ${message}`, index);
}

/** All sources together. */
export function tooMuchFault({ index }: Sourced, what: 'bytes' | 'values'): Fault {
  const most = (what === 'bytes' ? limits.sources : limits.sourcesValues).value;
  const message = `spec.changes[${index}].contentFrom: the sources hold more than ${most} ${what} together, the maximum: split the Transaction`;
  return fault('TransactionTooLarge', message, index);
}

function unavailable(index: number, message: string): Fault {
  return fault('ContentUnavailable', `spec.changes[${index}].contentFrom: ${message}`, index);
}

function objectOf({ kind, name }: Source, { namespace }: Transaction): string {
  return clean(`${kind} ${namespace}/${name}`);
}

function keyOf(source: Source, transaction: Transaction): string {
  return `key "${source.key}" of ${objectOf(source, transaction)}`;
}
