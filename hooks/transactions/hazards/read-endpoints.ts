// Endpoints that somebody made by hand. As soon as a Service of their name has a selector, a controller of Kubernetes overwrites them, and
// no undo of the Service brings them back. Source: k8s.io/kubernetes pkg/controller/endpoint/endpoints_controller.go, syncService.

import type { Reader, Resource } from '../../objects/cluster.ts';
import { whyIncomparable } from '../../objects/content/bulk.ts';
import { writesAsController } from '../../objects/content/derived.ts';
import { managersOf } from '../../objects/content/fields.ts';
import { field, pathText } from '../../objects/content/path.ts';
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { describe, identityOf, kindOf, type Reference } from '../../objects/reference.ts';
import { deletedBefore, type Resolved } from '../checks/targets.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Transaction } from '../model/transaction.ts';
import type { ItemView } from '../observe/observation.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import { isFedByKubernetes } from './dependents.ts';
import type { Standing } from './read-deleted.ts';

const endpoints: Resource = {
  group: '',
  version: 'v1',
  plural: 'endpoints',
  kind: 'Endpoints',
  namespaced: true,
  verbs: [],
  statusSubresource: false,
};

interface Context {
  readonly reader: Reader;
  readonly transaction: Transaction;
  readonly all: readonly Resolved[];
}

type Own = Pick<SnapshotEntry, 'index' | 'target' | 'resource'>;

interface States {
  readonly prior: JsonObject | undefined;
  readonly expected: JsonObject | undefined;
}

/** Whether a change of a Service takes such Endpoints. If the ServiceAccount may not read them, nobody knows. */
export async function takesEndpoints(context: Context, one: Own, states: States): Promise<boolean | Failure> {
  const { name, namespace = '' } = one.target;
  const isDeletedBefore = deletedBefore(context.all, one.index).has(identityOf(referenceOf(one.target)));
  if (!getsFed(one, states) || isDeletedBefore) return false;
  const found = await context.reader.getMetadata({ resource: endpoints, namespace, name }, serviceAccountOf(context.transaction));
  if (found.kind === 'failed') return found.failure.kind === 'transient' ? found.failure : false;
  return managersOf(found.object).some((manager) => !writesAsController(kindOf(endpoints), manager));
}

function getsFed({ resource }: Pick<SnapshotEntry, 'resource'>, { prior, expected }: States): boolean {
  const isFed = (service: JsonObject | undefined): boolean => service !== undefined && isFedByKubernetes(service);
  return kindOf(resource) === '/Service' && isFed(expected) && !isFed(prior);
}

function referenceOf({ name, namespace = '' }: Reference): Reference {
  return { apiVersion: endpoints.version, kind: endpoints.kind, namespace, name };
}

/**
 * Endpoints, in words, that others wrote while the Service had no selector or was gone, where its undo may give it one back. Endpoints
 * that a controller of Kubernetes wrote last are no loss, whoever annotated them.
 */
export async function readOverwritten(
  { source, transaction, entry }: Standing,
  live: JsonObject | undefined,
): Promise<Partial<Pick<ItemView, 'contents' | 'contentsTrouble'>>> {
  if (!getsFed(entry, { prior: live, expected: entry.prior })) return {};
  const { name, namespace = '' } = entry.target;
  const found = await source.reader.getMetadata({ resource: endpoints, namespace, name }, serviceAccountOf(transaction));
  if (found.kind === 'failed') return found.failure.kind === 'transient' ? { contentsTrouble: found.failure } : {};
  const isUnreadable = whyIncomparable(found.object) !== undefined;
  const writers = (isUnreadable ? [] : managersOf(found.object)).filter(({ fields }) => fields.has(addresses));
  const isOfOthers = isUnreadable || writers.some((manager) => !writesAsController(kindOf(endpoints), manager));
  return isOfOthers ? { contents: [describe(referenceOf(entry.target))] } : {};
}

// One list, which whoever writes it owns as a whole.
const addresses = pathText([field('subsets')]);
