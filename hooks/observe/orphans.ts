// The orphans that a controller of Kubernetes would delete in answer to a change, or to its undo (checks/orphans.ts).
import { type Neighbour, neighbourOf } from '../checks/company.ts';
import { type OrphanLoss, orphanLossBy, type Plural } from '../checks/orphans.ts';
import { deletedBefore, type Resolved } from '../checks/targets.ts';
import type { Failed, Resource } from '../cluster.ts';
import type { Failure } from '../model/failure.ts';
import { type JsonObject, textAt } from '../model/json.ts';
import { describe, identityOf, type Reference } from '../model/reference.ts';
import { pods, replicaSets } from '../writes/resources.ts';
import type { LockContext } from './begin.ts';
import { lookerOf, type Standing, sorted } from './contents.ts';
import { allListed, inTurn, type Looker, listAll } from './listing.ts';
import type { ItemView, Prepared } from './observation.ts';

const apps = (plural: string, kind: string): Resource => ({ ...replicaSets, plural, kind });

const kinds: Readonly<Record<Plural, Resource>> = {
  pods,
  replicationcontrollers: { ...pods, plural: 'replicationcontrollers', kind: 'ReplicationController' },
  replicasets: replicaSets,
  statefulsets: apps('statefulsets', 'StatefulSet'),
  daemonsets: apps('daemonsets', 'DaemonSet'),
  deployments: apps('deployments', 'Deployment'),
};

interface Context extends Pick<LockContext, 'reader' | 'looks' | 'transaction'> {
  readonly all: readonly Resolved[];
}

interface Lost {
  readonly why: string;
  readonly names: readonly string[];
}

/** Those that others lose by the change; undefined if there are none. Of what may not be listed nobody knows. */
export async function orphansLostBy(
  { all, ...context }: Context,
  { index, target }: Pick<Resolved, 'index' | 'target'>,
  { prior, expected }: Pick<Prepared, 'prior' | 'expected'>,
): Promise<Lost | Failure | undefined> {
  const loss = expected === undefined ? undefined : orphanLossBy(prior, expected);
  if (loss === undefined) return undefined;
  const found = await listOrphans(lookerOf(context, context.transaction), loss, stateOf(target, prior));
  if (found.kind === 'failed') return found.failure;
  // Their own undo brings these back.
  const deleted = deletedBefore(all, index);
  const lost = found.items.filter(({ reference }) => !deleted.has(identityOf(reference)));
  return lost.length > loss.spared ? { why: loss.why, names: lost.map(({ reference }) => describe(reference)) } : undefined;
}

/** Those that others lose by the undo. */
export async function readOrphans(
  standing: Standing,
  live: JsonObject | undefined,
): Promise<Partial<Pick<ItemView, 'contents' | 'ownContents' | 'contentsTrouble'>>> {
  const { source, transaction, entry } = standing;
  const loss = entry.prior === undefined ? undefined : orphanLossBy(live, entry.prior);
  if (loss === undefined || entry.prior === undefined) return {};
  const found = await listOrphans(lookerOf(source, transaction), loss, stateOf(entry.target, live));
  if (found.kind === 'failed') return { contentsTrouble: found.failure };
  if (found.items.length <= loss.spared) return {};
  const { contents, ownContents } = sorted(
    standing,
    { resource: entry.resource, target: entry.target, object: entry.prior },
    found.items,
  );
  return contents.length > loss.spared ? { contents } : { ownContents };
}

type Orphans = { readonly kind: 'known'; readonly items: readonly Neighbour[] } | Failed;

/** What is picked depends on the object, and on its state. */
function stateOf(target: Reference, object: JsonObject | undefined): string {
  return `${identityOf(target)} ${textAt(object, 'metadata', 'resourceVersion') ?? ''}`;
}

function listOrphans(looker: Looker, loss: OrphanLoss, state: string): Promise<Orphans> {
  const key = `orphans ${state}`;
  return looker.looks.once(key, () => listThem(looker, loss, key));
}

async function listThem(looker: Looker, loss: OrphanLoss, key: string): Promise<Orphans> {
  const { namespace, selector } = loss;
  const all = await inTurn(loss.of, (plural) => {
    const resource = kinds[plural];
    const pick = (object: JsonObject): readonly Neighbour[] =>
      loss.mayLose(object, plural) ? [neighbourOf(resource, object)] : [];
    return listAll(looker, key, { resource, namespace, whole: true, ...selector }, pick);
  });
  return allListed(all);
}
