// Whom a 403 refuses: the ServiceAccount, or the engine, which may not impersonate it. The answer does not say: since Kubernetes 1.35 a
// refused impersonation is about the object that was requested. So the engine reviews its own rights. Source: k8s.io/apiserver,
// pkg/endpoints/filters/impersonation.
import type { Identity } from '../../hooks/objects/cluster.ts';
import type { Refusal } from '../../hooks/objects/failure.ts';
import { at } from '../../hooks/objects/json.ts';
import { type ApiRequest, accessReview } from './requests.ts';
import { failed, type Received, type Transport } from './transport.ts';

type Account = Extract<Identity, { kind: 'serviceAccount' }>;

/** ms for which the engine that could impersonate a ServiceAccount counts as able to: many refusals cost one review. */
const longestKnown = 5_000;

const mostKnown = 1_000;

const engine: Identity = { kind: 'engine' };

/** The same transport, which marks refusals that are the engine's. A write that is refused is not reviewed: its words may be a webhook's. */
export function withRefusedParty(transport: Transport): Transport {
  const mayImpersonate = reviewerOf(transport);
  return {
    async request(request, identity, isLate) {
      const answer = await transport.request(request, identity, isLate);
      if (answer.kind !== 'failed' || answer.failure.kind !== 'refused' || answer.failure.code !== 403) return answer;
      const toEngine = await partyOf(request, identity);
      return toEngine === undefined ? answer : failed({ ...answer.failure, toEngine });
    },
    close: () => transport.close(),
  };

  async function partyOf(request: ApiRequest, identity: Identity): Promise<Refusal['toEngine']> {
    if (identity.kind === 'engine') return 'request';
    const isRead = request.method === 'GET' || request.path === accessReview({}).path;
    return isRead && !(await mayImpersonate(identity)) ? 'impersonation' : undefined;
  }
}

function reviewerOf(transport: Transport): (account: Account) => Promise<boolean> {
  const known = new Map<string, { readonly at: number; readonly answer: Promise<boolean> }>();
  return (account) => {
    const key = `${account.namespace}/${account.name}`;
    const last = known.get(key);
    if (last !== undefined && performance.now() < last.at + longestKnown) return last.answer;
    if (known.size >= mostKnown) known.clear();
    const answer = review(transport, account);
    known.set(key, { at: performance.now(), answer });
    // A lack is looked for each time: it may be over.
    answer.then((may) => may || known.delete(key));
    return answer;
  };
}

// The right that RBAC has had always, or else the one that is constrained to some requests. What cannot be reviewed counts as there.
async function review(transport: Transport, { namespace, name }: Account): Promise<boolean> {
  const verbs = [
    { verb: 'impersonate', group: '' },
    { verb: 'impersonate:serviceaccount', group: 'authentication.k8s.io' },
  ];
  const questions = verbs.map((right) => ({ ...right, resource: 'serviceaccounts', namespace, name }));
  const answers = await Promise.all(questions.map((question) => transport.request(accessReview(question), engine)));
  return answers.some(mayBeAllowed);
}

function mayBeAllowed(answer: Received | { readonly kind: 'failed' }): boolean {
  return answer.kind === 'failed' || at(answer.body, 'status', 'allowed') === true;
}
