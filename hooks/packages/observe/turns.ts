// Under which status a process may have sent a create: until it knows better, that of its last call.
import type { PackageTransaction } from '../model/package-transaction.ts';

export interface Turns {
  /**
   * Decides. `isFirst`: no call of this process has begun under this status, but for those that sent nothing. `isSending`: whether what is
   * decided sends a create.
   */
  take<Move>(
    ptx: Pick<PackageTransaction, 'uid' | 'status'>,
    decide: (isFirst: boolean) => Promise<Move>,
    isSending: (move: Move) => boolean,
  ): Promise<Move>;
}

/** Package transactions that hold the Lock follow one another. */
const mostRemembered = 1_000;

export function createTurns(): Turns {
  const versions = new Map<string, number>();
  const begin = (uid: string, version: number): boolean => {
    const isFirst = versions.get(uid) !== version;
    versions.delete(uid);
    versions.set(uid, version);
    const [oldest] = versions.keys();
    if (versions.size > mostRemembered && oldest !== undefined) versions.delete(oldest);
    return isFirst;
  };
  return {
    async take({ uid, status: { version } }, decide, isSending) {
      const isFirst = begin(uid, version);
      let mayHaveSent = false;
      try {
        const move = await decide(isFirst);
        mayHaveSent = isSending(move);
        return move;
      } finally {
        if (isFirst && !mayHaveSent && versions.get(uid) === version) versions.delete(uid);
      }
    },
  };
}
