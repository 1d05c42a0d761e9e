// Checks the durations of a Transaction. The CRD checks them too, but the hook must not rely on it.
import { formatDuration, parseDuration } from '../../objects/time.ts';
import { defaultTimeouts, durationNames, type Transaction } from '../model/transaction.ts';
import { type Fault, fault } from './fault.ts';

/** The least and the greatest values: those of the schema. */
export const durationBounds = {
  lockTimeout: ['30s', '1h'],
  lockWait: ['0s', '1h'],
  timeout: ['1s', '24h'],
} as const;

export function durationFaults(transaction: Transaction): readonly Fault[] {
  return durationNames
    .filter((name) => transaction.misread.includes(name) || !isWithin(transaction[name], durationBounds[name]))
    .map((name) => {
      const [least, most] = durationBounds[name];
      const usual = formatDuration(defaultTimeouts[name]);
      return fault('Invalid', `spec.${name} must be a duration from ${least} to ${most}, such as ${usual}`);
    });
}

function isWithin(milliseconds: number, [least, most]: readonly [string, string]): boolean {
  return milliseconds >= (parseDuration(least) ?? 0) && milliseconds <= (parseDuration(most) ?? 0);
}
