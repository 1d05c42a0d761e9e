// Content that does not fit its kind's schema is refused by a server-side apply with HTTP 500 and no reason, as an etcd
// that is away is. Taken for transient it would be tried until the Transaction's time is over; so a controlled experiment
// tells the two apart: an apply of nothing works, the same content fails again. Both are dry runs.
import type { Answer, Write } from '../../hooks/cluster.ts';
import type { Failure } from '../../hooks/model/failure.ts';
import { type JsonObject, textAt } from '../../hooks/model/json.ts';

type Apply = Extract<Write, { readonly verb: 'apply' }>;

/** The answer to a write, or the refusal that its unexplained failure turns out to be. */
export async function explained(write: Write, answer: Answer, dryRun: (write: Write) => Promise<Answer>): Promise<Answer> {
  if (write.verb !== 'apply' || !isUnexplained(answer)) return answer;
  const ofNothing = await dryRun({ ...write, object: nothingOf(write) });
  if (ofNothing.kind === 'failed' && ofNothing.failure.kind === 'transient') return answer;
  const again = await dryRun(write);
  return isUnexplained(again) ? { kind: 'failed', failure: refusal(again.failure) } : answer;
}

function isUnexplained(answer: Answer): answer is Extract<Answer, { readonly kind: 'failed' }> {
  return answer.kind === 'failed' && answer.failure.code === 500 && answer.failure.reason === 'Unknown';
}

function nothingOf(write: Apply): JsonObject {
  return { apiVersion: textAt(write.object, 'apiVersion') ?? '', kind: textAt(write.object, 'kind') ?? '' };
}

function refusal(failure: Failure): Failure {
  return { ...failure, kind: 'refused', reason: 'InvalidContent', definitive: true };
}
