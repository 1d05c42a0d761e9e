// Counts active Transactions by phase, Transactions with objects that were not restored, and locks in the cluster.
//
// A Transaction that waits for a gate within its timeout is active, and holds its locks. But the ages count neither the Transaction nor
// its locks: alerts watch the ages, and this Transaction works as specified.
import type { Identity, Resource } from '../../hooks/objects/cluster.ts';
import { at, textAt } from '../../hooks/objects/json.ts';
import { isPhase, isTerminal, phases } from '../../hooks/transactions/model/phase.ts';
import { labelOf } from '../../hooks/transactions/model/reason.ts';
import { objectPath } from '../kubernetes/paths.ts';
import { type Row, secondsOfAge } from '../kubernetes/tables.ts';
import type { Transport } from '../kubernetes/transport.ts';
import { type PackageInventory, packageInventory } from './package-inventory.ts';
import { type Active, eachRow, none, withOneMore } from './rows.ts';

export interface TransactionInventory {
  /** Every phase that is not terminal. */
  readonly byPhase: ReadonlyMap<string, Active>;
  /** Failed Transactions with objects that were not restored, by the reason of the first object. */
  readonly unrestored: ReadonlyMap<string, number>;
  /** UIDs of Transactions that wait for a gate within its timeout. */
  readonly waiting: ReadonlySet<string>;
}

interface Subject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Each function resolves to undefined if the API server does not answer. */
export interface Inventory {
  transactions(): Promise<TransactionInventory | undefined>;
  locks(waiting: Promise<Pick<TransactionInventory, 'waiting'> | undefined>): Promise<Active | undefined>;
  /** Absent if the hook serves no package transactions. */
  packages?(): Promise<PackageInventory | undefined>;
  /** The version of a Transaction's status; `gone` if the Transaction no longer exists. */
  version(of: Subject): Promise<number | 'gone' | undefined>;
}

const engine: Identity = { kind: 'engine' };
const namespaced = { namespaced: true, verbs: ['list'], version: 'v1', statusSubresource: false };
const leases: Resource = { ...namespaced, group: 'coordination.k8s.io', plural: 'leases', kind: 'Lease' };
const transactions: Resource = {
  ...namespaced,
  group: 'tx.janus.io',
  version: 'v1alpha1',
  plural: 'transactions',
  kind: 'Transaction',
};

interface Places {
  readonly engineNamespace: string;
  /** The namespaces to serve; empty for all. */
  readonly namespaces: readonly string[];
  /** Present if the hook serves package transactions. */
  readonly packages?: Parameters<typeof packageInventory>[1];
}

export function createInventory(transport: Transport, { engineNamespace, namespaces, packages }: Places): Inventory {
  const served = namespaces.length === 0 ? [undefined] : namespaces;
  return {
    async transactions() {
      const seen: Seen = {
        byPhase: new Map(unfinished.map((phase) => [phase, none])),
        unrestored: new Map(),
        waiting: new Set(),
      };
      const lists = served.map((namespace) => ({ resource: transactions, namespace }));
      const isComplete = await eachRow(transport, lists, (row, now) => seeTransaction(seen, row, now));
      return isComplete ? seen : undefined;
    },
    async locks(transactions) {
      const byHolder = new Map<string, Active>();
      const list = { resource: leases, namespace: engineNamespace, labelSelector: 'tx.janus.io/transaction-uid' };
      const isComplete = await eachRow(transport, [list], (row) => {
        const uid = uidOf(row.cell('Holder'));
        byHolder.set(uid, withOneMore(byHolder.get(uid) ?? none, secondsOfAge(row.cell('Age')) ?? 0));
      });
      const found = await transactions;
      return isComplete && found !== undefined ? totalOf(byHolder, found.waiting) : undefined;
    },
    ...(packages === undefined ? {} : { packages: () => packageInventory(transport, packages) }),
    version: (of) => storedVersion(transport, of),
  };
}

async function storedVersion(transport: Transport, { namespace, name, uid }: Subject): Promise<number | 'gone' | undefined> {
  const path = objectPath({ resource: transactions, namespace, name });
  const answer = await transport.request({ method: 'GET', path }, engine);
  if (answer.kind === 'failed') return answer.failure.kind === 'absent' ? 'gone' : undefined;
  if (textAt(answer.body, 'metadata', 'uid') !== uid) return 'gone';
  const version = at(answer.body, 'status', 'version');
  return typeof version === 'number' ? version : 0;
}

const unfinished = phases.filter((phase) => !isTerminal(phase));

/** The last part of `namespace/name/uid`. */
function uidOf(holder: string): string {
  return holder.slice(holder.lastIndexOf('/') + 1);
}

function totalOf(byHolder: ReadonlyMap<string, Active>, waiting: ReadonlySet<string>): Active {
  return [...byHolder].reduce(
    (sum, [uid, { count, oldest }]) => ({
      count: sum.count + count,
      oldest: waiting.has(uid) ? sum.oldest : Math.max(sum.oldest, oldest),
    }),
    none,
  );
}

interface Seen {
  readonly byPhase: Map<string, Active>;
  readonly unrestored: Map<string, number>;
  readonly waiting: Set<string>;
}

// A Transaction has no status before its first call.
function seeTransaction({ byPhase, unrestored, waiting }: Seen, row: Row, now: number): void {
  const phase = row.cell('Phase') || 'Pending';
  if (!isPhase(phase)) return;
  if (phase === 'Failed') seeLeft(unrestored, row.cell('Left'));
  if (isTerminal(phase)) return;
  const isWaiting = Date.parse(row.cell('Until')) >= now;
  if (isWaiting) waiting.add(row.cell('UID'));
  byPhase.set(phase, withOneMore(byPhase.get(phase) ?? none, isWaiting ? 0 : secondsActive(row, now)));
}

function seeLeft(unrestored: Map<string, number>, left: string): void {
  const reason = labelOf(left);
  if (left !== '') unrestored.set(reason, (unrestored.get(reason) ?? 0) + 1);
}

function secondsActive(row: Row, now: number): number {
  const since = Date.parse(row.cell('Since'));
  return Number.isNaN(since) ? (secondsOfAge(row.cell('Age')) ?? 0) : Math.max(0, now - since) / 1000;
}
