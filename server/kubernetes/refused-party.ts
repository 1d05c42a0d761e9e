// Finds out whether a 403 refuses the ServiceAccount, or the engine, which may not impersonate it. The answer does not show this: since
// Kubernetes 1.35 a refused impersonation names the requested object. So the engine reviews its own rights. Source: k8s.io/apiserver,
// pkg/endpoints/filters/impersonation.
import type { Identity } from '../../hooks/objects/cluster.ts';
import type { Refusal } from '../../hooks/objects/failure.ts';
import { at } from '../../hooks/objects/json.ts';
import { type ApiRequest, accessReview } from './requests.ts';
import { failed, type Received, type Transport } from './transport.ts';

type Account = Extract<Identity, { kind: 'serviceAccount' }>;

/** After a positive review, the engine counts as able to impersonate a ServiceAccount for this time, in ms. Many refusals cost one review. */
const longestKnown = 5_000;

const mostKnown = 1_000;

const engine: Identity = { kind: 'engine' };

/** A transport that marks refusals of the engine itself. It does not review refused writes, because a webhook may have refused them. */
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
    // A missing right is reviewed each time, because the administrator may have granted it.
    answer.then((may) => may || known.delete(key));
    return answer;
  };
}

// The verb that RBAC has always had, or else the verb that is constrained to some requests. If a right cannot be reviewed, it counts as
// granted.
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
