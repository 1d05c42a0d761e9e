// Whom a refusal refuses (server/kubernetes/refused-party.ts). The API server's own answers: test/scenarios/lifecycle/engine-refused.test.ts.
import t from 'tap';
import type { Identity } from '../../../hooks/objects/cluster.ts';
import type { Failure } from '../../../hooks/objects/failure.ts';
import { withRefusedParty } from '../../../server/kubernetes/refused-party.ts';
import { accessReview } from '../../../server/kubernetes/requests.ts';
import { failed } from '../../../server/kubernetes/transport.ts';

const account: Identity = { kind: 'serviceAccount', namespace: 'shop', name: 'deployer' };
const engine: Identity = { kind: 'engine' };
const refusal: Failure = { kind: 'refused', code: 403, reason: 'Forbidden', message: 'no', fields: [], definitive: true };
const read = { method: 'GET', path: '/api/v1/pods' } as const;

/** A transport that refuses all but reviews of the engine's rights, and says what it refuses to the engine. */
function refusing(mayImpersonate: boolean) {
  const rights = { mayImpersonate };
  let reviews = 0;
  const transport = withRefusedParty({
    async request({ path }, identity) {
      if (path !== accessReview({}).path || identity.kind !== 'engine') return failed(refusal);
      reviews += 1;
      return { kind: 'ok', body: { status: { allowed: rights.mayImpersonate } }, size: 1, bytes: 1, serverTime: 0 };
    },
    close: async () => undefined,
  });
  const toEngine = async (request: Parameters<typeof transport.request>[0], identity: Identity) => {
    const answer = await transport.request(request, identity);
    return answer.kind === 'failed' && answer.failure.kind === 'refused' ? answer.failure.toEngine : 'no refusal';
  };
  return { rights, toEngine, reviews: () => reviews };
}

t.test('the ServiceAccount is refused if the engine may impersonate it: many refusals cost one review', async (t) => {
  const { toEngine, reviews } = refusing(true);
  t.same(await Promise.all([1, 2, 3].map(() => toEngine(read, account))), [undefined, undefined, undefined]);
  t.equal(await toEngine(read, account), undefined);
  t.equal(reviews(), 2, 'one for each right that allows it');
});

t.test('the engine is refused if it may not impersonate, until it may again', async (t) => {
  const { rights, toEngine } = refusing(false);
  t.equal(await toEngine(read, account), 'impersonation');
  t.equal(await toEngine(accessReview({}), account), 'impersonation');
  rights.mayImpersonate = true;
  t.equal(await toEngine(read, account), undefined);
});

t.test('the engine is refused in its own requests; it makes no review after a write', async (t) => {
  const { toEngine, reviews } = refusing(false);
  t.equal(await toEngine(read, engine), 'request');
  t.equal(await toEngine({ method: 'PATCH', path: '/api/v1/pods' }, account), undefined);
  t.equal(reviews(), 0);
});
