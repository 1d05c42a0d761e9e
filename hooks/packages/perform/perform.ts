// Sends the writes of a move, one after the other; the first that fails ends it. Once the call is late nothing is sent: another process may
// believe by then that this one is gone (PackageParts.lateness).
import type { Writer } from '../../objects/cluster.ts';
import { deadlineExceeded, type Failure } from '../../objects/failure.ts';
import type { Deed } from '../decide/move.ts';

interface Performed {
  readonly writes: number;
  readonly failure?: Failure;
}

const outOfTime = deadlineExceeded('the time of the call is over, and the next call goes on');

export async function perform(deeds: readonly Deed[], writer: Writer, isLate: () => boolean): Promise<Performed> {
  let writes = 0;
  for (const deed of deeds) {
    if (isLate()) return { writes, failure: outOfTime };
    const answer = await writer.send(deed.write, isLate);
    if (answer.kind === 'failed' && !isHarmless(deed, answer.failure)) return { writes, failure: answer.failure };
    writes += 1;
  }
  return { writes };
}

function isHarmless({ settledBy, mayBeRefused }: Deed, { kind }: Failure): boolean {
  return kind === settledBy || (kind === 'refused' && mayBeRefused === true);
}
