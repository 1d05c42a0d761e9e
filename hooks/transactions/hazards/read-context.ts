// What every read of hazards needs.
import type { Reader } from '../../objects/cluster.ts';
import type { Transaction } from '../model/transaction.ts';
import type { Looks } from '../reading/looks.ts';

export interface ReadContext {
  readonly reader: Reader;
  readonly looks: Looks;
  readonly transaction: Transaction;
}
