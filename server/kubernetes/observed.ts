// Requests to the API server as they are seen from outside: how many of what kind, how they went, how long they took.
import type { Failed } from '../../hooks/cluster.ts';
import type { Method } from './requests.ts';
import type { Received, Transport } from './transport.ts';

/** One request; words of ours only. */
export interface RequestFact {
  readonly verb: string;
  readonly outcome: string;
  readonly seconds: number;
}

const verbs: Readonly<Record<Method, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

export function observed(transport: Transport, observe: (fact: RequestFact) => void): Transport {
  return {
    async request(request, identity, isLate) {
      const began = performance.now();
      const answer = await transport.request(request, identity, isLate);
      observe({
        verb: verbs[request.method],
        outcome: outcomeOf(answer),
        seconds: (performance.now() - began) / 1000,
      });
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
