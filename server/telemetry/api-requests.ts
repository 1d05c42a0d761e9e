// Counts and times the requests to the API server by verb and outcome, and counts the bytes that they read.
import type { Failed } from '../../hooks/objects/cluster.ts';
import type { Method } from '../kubernetes/requests.ts';
import type { Received, Transport } from '../kubernetes/transport.ts';
import { countRead } from './costs.ts';
import type { MetricDefinitions } from './definitions.ts';

const verbs: Readonly<Record<Method, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** A transport that counts each of its requests. */
export function countRequests(
  transport: Transport,
  { apiRequests, apiDuration }: Pick<MetricDefinitions, 'apiRequests' | 'apiDuration'>,
): Transport {
  return {
    async request(request, identity, isLate) {
      const verb = verbs[request.method];
      const began = performance.now();
      const answer = await transport.request(request, identity, isLate);
      if (answer.kind === 'ok') countRead(answer.bytes);
      apiRequests.inc({ verb, outcome: outcomeOf(answer) });
      apiDuration.observe({ verb }, (performance.now() - began) / 1000);
      return answer;
    },
    close: () => transport.close(),
  };
}

const outcomes: Readonly<Record<number, string>> = { 404: 'not_found', 409: 'conflict', 429: 'throttled' };

function outcomeOf(answer: Received | Failed): string {
  if (answer.kind === 'ok') return 'ok';
  const { code, definitive } = answer.failure;
  if (code === 0) return definitive ? 'not_sent' : 'no_answer';
  return outcomes[code] ?? (code >= 500 ? 'unavailable' : 'refused');
}
