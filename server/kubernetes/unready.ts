// Refusals of an API server that is not ready. While it starts it serves requests before its caches are filled: its authorizer misses
// roles, its admission plugins answer "not yet ready to handle request", both with 403. Such a refusal proves nothing.
//
// 1. A 403, and a review that denies, counts only if the API server gave it after it reported that it was ready: GET /readyz, then
//    the same request once more. While it is not ready, the failure is transient. Both refusals prove that a write has no effect.
// 2. What a write has waited is taken off its lifetime: sent twice, it is over no later.
// Sources: k8s.io/apiserver, pkg/server/healthz (informer-sync), pkg/admission/initializer (WaitForReady); /readyz is always allowed
// (--authorization-always-allow-paths).
import type { Failed, Identity } from '../../hooks/cluster.ts';
import type { Failure } from '../../hooks/model/failure.ts';
import { at, textAt } from '../../hooks/model/json.ts';
import type { ApiRequest } from './requests.ts';
import { failed, type Received, type Transport } from './transport.ts';

const engine: Identity = { kind: 'engine' };
const forbidden = 403;

/** The same transport, whose refusals are those of an API server that is ready. */
export function withProvenRefusals(transport: Transport): Transport {
  return {
    async request(request, identity, isLate) {
      const askedAt = performance.now();
      const answer = await transport.request(request, identity, isLate);
      if (!isRefusal(answer)) return answer;
      if (await isUnready(transport)) return failed(unproven(answer));
      return transport.request(shortened(request, performance.now() - askedAt), identity, isLate);
    },
    close: () => transport.close(),
  };
}

function isRefusal(answer: Received | Failed): boolean {
  if (answer.kind === 'failed') return answer.failure.code === forbidden && answer.failure.definitive;
  const isReview = textAt(answer.body, 'kind') === 'SelfSubjectAccessReview';
  return isReview && at(answer.body, 'status', 'allowed') !== true;
}

// It answers in plain text: an answer with 200 that is no JSON. What neither reports readiness nor its lack (a gateway's 404)
// leaves the refusal as it is.
async function isUnready(transport: Transport): Promise<boolean> {
  const answer = await transport.request({ method: 'GET', path: '/readyz' }, engine);
  return answer.kind === 'failed' && answer.failure.kind === 'transient' && answer.failure.code !== 200;
}

function unproven(answer: Received | Failed): Failure {
  const refusal = answer.kind === 'failed' ? `refused the request (${answer.failure.message})` : 'denied the permission';
  const message = `the API server is not ready (GET /readyz), so that its answer does not count: it ${refusal}`;
  return { kind: 'transient', code: 503, reason: 'ServiceUnavailable', message, fields: [], definitive: true };
}

function shortened(request: ApiRequest, elapsed: number): ApiRequest {
  return request.lifetime === undefined ? request : { ...request, lifetime: request.lifetime - Math.ceil(elapsed) };
}
