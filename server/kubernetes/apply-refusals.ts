// The API server answers HTTP 500 without a reason if a server-side apply has content that violates the schema of its kind. It
// answers the same if etcd is unavailable. As a transient failure such an apply would be retried until the Transaction's time is
// over. So two dry runs distinguish the cases: if an empty apply works and the same content fails again, the content is at fault.
import type { Answer, Write } from '../../hooks/objects/cluster.ts';
import type { Failure } from '../../hooks/objects/failure.ts';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';

type Apply = Extract<Write, { readonly verb: 'apply' }>;

/** The answer to a write. If a failure without reason is a refusal of the content, the answer says so. */
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
