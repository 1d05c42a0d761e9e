// Refusals of an API server that is not ready. While it starts it serves requests before its caches are filled: its authorizer misses
// roles, its admission plugins answer "not yet ready to handle request", both with 403. Such a refusal proves nothing.
//
// 1. A 403, and a review that denies, counts only if the API server reported that it was ready before the request was sent: GET /readyz,
//    and the same request once more where that was not known. While it is not ready, the failure is transient. Both refusals prove that
//    a write has no effect.
// 2. That it is ready is known for a moment: many refusals cost one GET /readyz, and later ones nothing.
// 3. What a write has waited is taken off its lifetime: sent twice, it is over no later. What takes more than half of its lifetime to be
//    refused is not sent twice; the engine's next try then counts.
// Sources: k8s.io/apiserver, pkg/server/healthz (informer-sync), pkg/admission/initializer (WaitForReady); /readyz is always allowed
// (--authorization-always-allow-paths).
import type { Failed, Identity } from '../../hooks/objects/cluster.ts';
import type { Failure } from '../../hooks/objects/failure.ts';
import { at, textAt } from '../../hooks/objects/json.ts';
import type { ApiRequest } from './requests.ts';
import { failed, type Received, type Transport } from './transport.ts';

const engine: Identity = { kind: 'engine' };
const forbidden = 403;

/** ms for which an API server that was ready counts as ready: none is gone and serves again, unready, so soon after. */
const longestKnown = 5_000;

/** The same transport, whose refusals are those of an API server that is ready. */
export function withProvenRefusals(transport: Transport): Transport {
  const readiness = readinessOf(transport);
  return {
    async request(request, identity, isLate) {
      const sentAt = performance.now();
      const answer = await transport.request(request, identity, isLate);
      if (!isRefusal(answer) || readiness.wasKnown(sentAt)) return answer;
      if (!(await readiness.ask())) return failed(unproven(answer, 'the API server is not ready (GET /readyz)'));
      const elapsed = Math.ceil(performance.now() - sentAt);
      if (elapsed > (request.lifetime ?? Number.POSITIVE_INFINITY) / 2)
        return failed(unproven(answer, 'whether the API server was ready is not known'));
      return transport.request(shortened(request, elapsed), identity, isLate);
    },
    close: () => transport.close(),
  };
}

interface Readiness {
  /** Whether it was known to be ready when a request was sent, at that moment of `performance.now()`. */
  wasKnown(sentAt: number): boolean;
  /** Whether it is ready; at most one request at a time. */
  ask(): Promise<boolean>;
}

function readinessOf(transport: Transport): Readiness {
  let readyAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<boolean> | undefined;
  const ask = async (): Promise<boolean> => {
    const answer = await transport.request({ method: 'GET', path: '/readyz' }, engine);
    const isReady = !isUnready(answer);
    if (isReady) readyAt = performance.now();
    asking = undefined;
    return isReady;
  };
  return {
    wasKnown: (sentAt) => sentAt >= readyAt && sentAt < readyAt + longestKnown,
    ask() {
      asking ??= ask();
      return asking;
    },
  };
}

function isRefusal(answer: Received | Failed): boolean {
  if (answer.kind === 'failed') return answer.failure.code === forbidden && answer.failure.definitive;
  const isReview = textAt(answer.body, 'kind') === 'SelfSubjectAccessReview';
  return isReview && at(answer.body, 'status', 'allowed') !== true;
}

// What neither reports readiness nor its lack, such as a gateway's 404, leaves refusals as they are.
function isUnready(answer: Received | Failed): boolean {
  return answer.kind === 'failed' && (answer.failure.code === 0 || answer.failure.code >= 500);
}

function unproven(answer: Received | Failed, why: string): Failure {
  const refusal = answer.kind === 'failed' ? `refused the request (${answer.failure.message})` : 'denied the permission';
  const message = `${why}, so that its answer does not count: it ${refusal}`;
  return { kind: 'transient', code: 503, reason: 'ServiceUnavailable', message, fields: [], definitive: true };
}

function shortened(request: ApiRequest, elapsed: number): ApiRequest {
  return request.lifetime === undefined ? request : { ...request, lifetime: request.lifetime - elapsed };
}
