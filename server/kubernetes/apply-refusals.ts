// If the content of a server-side apply violates the schema of its kind, the API server answers HTTP 500 without a reason. If etcd is
// unavailable, the answer is equal. The engine would retry a transient failure until the Transaction's time is over. So two dry runs
// distinguish the cases: if an empty apply works, and the content fails again, the content is at fault.
import type { Answer, Write } from '../../hooks/objects/cluster.ts';
import type { Failure } from '../../hooks/objects/failure.ts';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';

type Apply = Extract<Write, { readonly verb: 'apply' }>;

/** The answer to a write. If a failure without a reason refuses the content, the answer becomes a refusal. */
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

function refusal({ origin: _none, ...failure }: Failure): Failure {
  return { ...failure, kind: 'refused', reason: 'InvalidContent', definitive: true };
}
