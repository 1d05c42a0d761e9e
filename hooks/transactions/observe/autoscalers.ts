// Whether an autoscaler has the number of a target that content names: the HorizontalPodAutoscalers and KEDA's ScaledObjects of its
// namespace. The engine lists them as the ServiceAccount, once per call and namespace, and only if a change may set such a number. A plan
// also lists them as its caller, to name those that would scale again (inspect/autoscalers.ts).
// Those that this Transaction creates, changes or deletes count as after it.
//
// Content's number is set if no autoscaler has the object as target, if it is 0, or if the change says `replicas: Set`. 0 turns a
// HorizontalPodAutoscaler off, so a live 0 stays only under KEDA. Source: kubernetes.io, horizontal-pod-autoscale, "Implicit
// maintenance-mode deactivation"; keda.sh, concepts/scaling-deployments.
import type { Identity, Reader, Resource } from '../../objects/cluster.ts';
import { scaledField } from '../../objects/content/derived.ts';
import { ownedBy } from '../../objects/content/ownership.ts';
import { field, pathText } from '../../objects/content/path.ts';
import type { Failure } from '../../objects/failure.ts';
import { at, isObject, type Json, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { groupOf, type Reference } from '../../objects/reference.ts';
import { endless, firstPlace, isEndless, type Place, readPage } from '../../objects/requests/pager.ts';
import { foreign } from '../../objects/words.ts';
import type { Resolved } from '../checks/targets.ts';
import type { KeptScale } from '../model/entry.ts';
import { managersOfChange, type Transaction } from '../model/transaction.ts';
import { definitions, serviceAccountOf } from '../writes/resources.ts';

/** One autoscaler, and its target. */
export interface Autoscaler {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly target: JsonObject;
  /** A HorizontalPodAutoscaler that KEDA made counts, too. */
  readonly isKeda: boolean;
}

/** `unseen`: kinds that could not be listed, with why. */
interface Autoscalers {
  readonly found: readonly Autoscaler[];
  readonly unseen: readonly string[];
  readonly trouble?: Failure;
}

/** The autoscalers of a namespace. */
export type Autoscaling = (namespace: string) => Promise<Autoscalers>;

const kinds = [
  { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' },
  { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject' },
] as const;

/** Pages of a list at most: 5 000 autoscalers and more. */
const mostPages = 20;

/** Reads each namespace once. `all`: the changes of the Transaction. */
export function readAutoscalers(reader: Reader, identity: Identity, all: readonly Resolved[]): Autoscaling {
  const reads = new Map<string, Promise<Autoscalers>>();
  return (namespace) => {
    const found = reads.get(namespace) ?? readNamespace(reader, identity, all, namespace);
    reads.set(namespace, found);
    return found;
  };
}

async function readNamespace(
  reader: Reader,
  identity: Identity,
  all: readonly Resolved[],
  namespace: string,
): Promise<Autoscalers> {
  const lists = await Promise.all(
    kinds.map(async ({ apiVersion, kind }) => {
      const served = await reader.resource(apiVersion, kind);
      if (served.kind === 'failed') return { kind, ...listOf(served.failure) };
      return { kind, ...(await listAll(reader, identity, served.resource, namespace)) };
    }),
  );
  const trouble = lists.find(({ failure }) => failure?.kind === 'transient')?.failure;
  return {
    found: lists.flatMap(({ kind, items }) => after(items, all, kind, namespace)),
    unseen: lists.flatMap(({ kind, failure }) => (failure === undefined ? [] : [`${kind}s (${failure.reason})`])),
    ...(trouble === undefined ? {} : { trouble }),
  };
}

interface List {
  readonly items: readonly JsonObject[];
  readonly failure?: Failure;
}

/** A kind that is not served has no objects. */
function listOf(failure: Failure): List {
  return failure.kind === 'absent' ? { items: [] } : { items: [], failure };
}

async function listAll(reader: Reader, identity: Identity, resource: Resource, namespace: string): Promise<List> {
  const items: JsonObject[] = [];
  let place: Place | undefined = firstPlace;
  for (let pages = 0; place !== undefined; pages += 1) {
    const page = await readPage(reader, identity, { resource, namespace, whole: true }, place);
    if (page.kind === 'failed') return listOf(page.failure);
    items.push(...page.items);
    if (pages >= mostPages || isEndless(page, place, pages)) return { items, failure: endless.failure };
    place = page.next;
  }
  return { items };
}

/** The autoscalers of that kind as this Transaction leaves them. */
function after(items: readonly JsonObject[], all: readonly Resolved[], kind: string, namespace: string): readonly Autoscaler[] {
  const own = all.filter(
    ({ target }) => target.kind === kind && target.namespace === namespace && isOfGroup(target.apiVersion, kind),
  );
  const found = new Map(items.map((one) => [textAt(one, 'metadata', 'name') ?? '', one]));
  for (const { change, target } of own) {
    if (change.type === 'Delete') found.delete(target.name);
    else found.set(target.name, changed(found.get(target.name), change.content));
  }
  return [...found].flatMap(([name, one]) => {
    const target = at(one, 'spec', 'scaleTargetRef');
    return isObject(target) ? [{ kind, namespace, name, target, isKeda: kind === 'ScaledObject' || isOfKeda(one) }] : [];
  });
}

function isOfGroup(apiVersion: string, kind: string): boolean {
  return kinds.some((one) => one.kind === kind && groupOf(one.apiVersion) === groupOf(apiVersion));
}

// Of what a change sets, only the target matters here.
function changed(live: JsonObject | undefined, content: Json | undefined): JsonObject {
  const [before, set] = [at(live, 'spec', 'scaleTargetRef'), at(content, 'spec', 'scaleTargetRef')];
  const scaleTargetRef = { ...(isObject(before) ? before : {}), ...(isObject(set) ? set : {}) };
  return { ...(live ?? {}), spec: { scaleTargetRef } };
}

function isOfKeda(autoscaler: JsonObject): boolean {
  return listAt(autoscaler, 'metadata', 'ownerReferences').some(
    (owner) => textAt(owner, 'kind') === 'ScaledObject' && groupOf(textAt(owner, 'apiVersion') ?? '') === 'keda.sh',
  );
}

/** The autoscalers among these that have the object as target. */
export function scalersOf(target: Reference, autoscalers: readonly Autoscaler[]): readonly Autoscaler[] {
  return autoscalers.filter((one) => one.namespace === target.namespace && scales(one, target));
}

// KEDA's defaults. A HorizontalPodAutoscaler names both.
function scales({ target: found, kind }: Autoscaler, target: Reference): boolean {
  const isDefault = kind === 'ScaledObject';
  const apiVersion = textAt(found, 'apiVersion') ?? (isDefault ? 'apps/v1' : '');
  const named = textAt(found, 'kind') ?? (isDefault ? 'Deployment' : '');
  return named === target.kind && textAt(found, 'name') === target.name && groupOf(apiVersion) === groupOf(target.apiVersion);
}

/** What becomes of the number of a target. */
interface Scaling {
  /** The number of the object stays; undefined if content's number is set. */
  readonly keepsScale?: KeptScale;
  /** Why content's number is set although an autoscaler has, or may have, the object as target. */
  readonly note?: string;
}

interface Context {
  readonly reader: Reader;
  readonly transaction: Transaction;
  readonly autoscaling: Autoscaling;
}

const nothing: Scaling = {};

/** A failure if the autoscalers cannot be read for now. */
export async function scalingOf(
  context: Context,
  resolved: Resolved,
  prior: JsonObject | undefined,
): Promise<Scaling | { readonly trouble: Failure }> {
  const { change, target } = resolved;
  if (prior === undefined || !mayKeep(resolved)) return nothing;
  const path = await scaleFieldOf(context, resolved, prior);
  const number = at(prior, ...path);
  const wanted = at(change.content, ...path);
  if (typeof number !== 'number' || wanted === 0 || !maySet(context.transaction, resolved, prior, path)) return nothing;
  const { found, unseen, trouble } = await context.autoscaling(target.namespace ?? '');
  if (trouble !== undefined) return { trouble };
  return keptBy(scalersOf(target, found), path, number) ?? noteOf(unseen, path);
}

function mayKeep({ change, resource, target }: Resolved): boolean {
  const isScalable = resource.scale === true && target.namespace !== undefined;
  return isScalable && change.type !== 'Delete' && change.replicas !== 'Set';
}

/** Undefined if no autoscaler has the number. */
function keptBy(scalers: readonly Autoscaler[], path: readonly string[], number: number): Scaling | undefined {
  const [first] = scalers;
  if (first === undefined) return undefined;
  if (number === 0 && !scalers.some(({ isKeda }) => isKeda))
    return { note: `${path.join('.')} is set: 0 has turned ${nameOf(first)} off` };
  return { keepsScale: { path, number, by: nameOf(first) } };
}

const longestName = 253;

function nameOf({ kind, namespace, name }: Autoscaler): string {
  return `${kind} ${foreign(`${namespace}/${name}`, longestName)}`;
}

function noteOf(unseen: readonly string[], path: readonly string[]): { readonly note?: string } {
  if (unseen.length === 0) return {};
  const right = 'grant the ServiceAccount the right to list them (janus rbac)';
  return { note: `${path.join('.')} is set, as the ServiceAccount could not list ${unseen.join(' and ')}: ${right}` };
}

// An Update that leaves the number out sets the default. An Apply that no longer names the number removes it.
function maySet(transaction: Transaction, { change }: Resolved, prior: JsonObject, path: readonly string[]): boolean {
  if (at(change.content, ...path) !== undefined || change.type === 'Update') return true;
  const own = pathText(path.map(field));
  return ownedBy(prior, [managersOfChange(transaction, change).forward]).some((one) => pathText(one) === own);
}

const usual: readonly string[] = ['spec', 'replicas'];
const kubernetesGroups: readonly string[] = ['', 'apps', 'extensions'];

/**
 * The field of the subresource. A client that has scaled shows it in managedFields; else the CustomResourceDefinition names it, if the
 * ServiceAccount may read that.
 */
async function scaleFieldOf(
  { reader, transaction }: Context,
  { resource }: Resolved,
  prior: JsonObject,
): Promise<readonly string[]> {
  if (kubernetesGroups.includes(resource.group)) return usual;
  const seen = scaledField(prior);
  if (seen !== undefined) return seen;
  const name = `${resource.plural}.${resource.group}`;
  const answer = await reader.get({ resource: definitions, name }, serviceAccountOf(transaction));
  if (answer.kind === 'failed') return usual;
  const version = listAt(answer.object, 'spec', 'versions').find((one) => textAt(one, 'name') === resource.version);
  const path = textAt(version, 'subresources', 'scale', 'specReplicasPath');
  return path === undefined ? usual : path.split('.').filter((name) => name !== '');
}
