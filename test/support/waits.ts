// When the next call for a Transaction comes, in the words of the tables.
import type { Wait } from '../../hooks/transactions/model/wait.ts';

const words = { none: '', now: ', again at once', backoff: ', backing off', refusal: ', once more' } as const;

export function waitText(wait: Wait): string {
  return typeof wait === 'string' ? words[wait] : `, again in ${wait.seconds}`;
}
