// Detects refusals of an API server that is not ready. When an API server starts, it serves requests before its caches are filled. Its
// authorizer misses roles, and its admission plugins answer "not yet ready to handle request", both with 403. Such a refusal proves
// nothing.
//
// 1. A 403, or a review that denies, counts only if the API server was ready before the request was sent. If that is unknown, this file
//    sends GET /readyz, and then the request once more. If the API server is not ready, the failure is transient. Both refusals prove
//    that a write has no effect.
// 2. A positive answer of /readyz is remembered for a moment, so many refusals cost one GET /readyz.
// 3. The time that a write has waited is subtracted from its lifetime, so a second request ends no later. If a refusal takes more than
//    half of the lifetime, the request is not sent twice; the next attempt of the engine then counts.
// Sources: k8s.io/apiserver, pkg/server/healthz (informer-sync), pkg/admission/initializer (WaitForReady); /readyz is always allowed
// (--authorization-always-allow-paths).
import type { Failed, Identity } from '../../hooks/objects/cluster.ts';
import type { Failure } from '../../hooks/objects/failure.ts';
import { at, textAt } from '../../hooks/objects/json.ts';
import type { ApiRequest } from './requests.ts';
import { failed, type Received, type Transport } from './transport.ts';

const engine: Identity = { kind: 'engine' };
const forbidden = 403;

/** A ready API server counts as ready for this time, in ms. No API server stops and serves again, unready, within it. */
const longestKnown = 5_000;

/** A transport whose refusals are refusals of a ready API server. */
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
  /** Whether the API server was known to be ready when a request was sent; `performance.now()` gives the moment. */
  wasKnown(sentAt: number): boolean;
  /** Whether the API server is ready. At most one request runs at a time. */
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

// If the answer shows neither readiness nor unreadiness, such as a gateway's 404, refusals stay as they are.
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
