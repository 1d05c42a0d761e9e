// Sends the writes of a move, one after the other; the first that fails ends it.
import type { Writer } from '../../cluster.ts';
import type { Failure } from '../../model/failure.ts';
import type { Deed } from '../decide/move.ts';

interface Performed {
  readonly writes: number;
  readonly failure?: Failure;
}

export async function perform(deeds: readonly Deed[], writer: Writer): Promise<Performed> {
  let writes = 0;
  for (const { write, settledBy } of deeds) {
    const answer = await writer.send(write);
    if (answer.kind === 'failed' && answer.failure.kind !== settledBy) return { writes, failure: answer.failure };
    writes += 1;
  }
  return { writes };
}
