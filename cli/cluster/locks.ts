// Reads locks from the engine's Leases.
import type { Failed, Resource } from '../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { parseTime } from '../../hooks/objects/time.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { allPages } from './pages.ts';
import { caller, type Session } from './session.ts';

const leases: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
  verbs: [],
  statusSubresource: false,
};

export interface LockView {
  readonly target: string;
  /** `namespace/name` of the Transaction. */
  readonly holder: string;
  readonly holderUid: string;
  /** ms since the epoch, like the next. */
  readonly since: number | undefined;
  readonly expires: number | undefined;
}

interface Locks {
  readonly kind: 'ok';
  readonly locks: readonly LockView[];
  /** The API server's time. */
  readonly now: number;
}

export async function readLocks(session: Session, engineNamespace: string): Promise<Locks | Failed> {
  const pages = await allPages((from) => {
    const labelSelector = 'app.kubernetes.io/managed-by=janus';
    const options = { whole: true, limit: 500, labelSelector, ...(from === '' ? {} : { from }) };
    return session.cluster.listMetadata(leases, engineNamespace, caller, options);
  });
  if ('kind' in pages) return pages;
  const all = pages.flatMap(({ items }) => items);
  const locks = all.filter((item) => textAt(item, 'metadata', 'annotations', transaction) !== undefined).map(lockIn);
  return { kind: 'ok', locks, now: pages.at(-1)?.serverTime ?? Number.NaN };
}

const transaction = 'tx.janus.io/transaction';
const longest = 600;

function lockIn(lease: JsonObject): LockView {
  const said = (name: string): string => foreign(textAt(lease, 'metadata', 'annotations', name) ?? '', longest);
  const renewed = parseTime(textAt(lease, 'spec', 'renewTime'));
  const seconds = at(lease, 'spec', 'leaseDurationSeconds');
  return {
    target: said('tx.janus.io/target') || foreign(textAt(lease, 'metadata', 'name') ?? '', longest),
    holder: said(transaction),
    // namespace/name/uid
    holderUid: (textAt(lease, 'spec', 'holderIdentity') ?? '').split('/')[2] ?? '',
    since: parseTime(textAt(lease, 'spec', 'acquireTime')),
    expires: renewed === undefined || typeof seconds !== 'number' ? undefined : renewed + seconds * 1_000,
  };
}
