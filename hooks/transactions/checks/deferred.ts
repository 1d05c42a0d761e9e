// A dry run runs against the cluster as it is. So the API server may refuse it for a reason that an earlier change of the same
// Transaction removes. This table lists all such refusals. The engine repeats such a dry run when the change is next. Every other
// refusal ends the Transaction before anything is applied. An undo uses this table for its writes, too, in their order: an object
// that it recreates may need an object that it recreates later.
//
// Rules of kube-apiserver 1.36 behind the rows: a user without the right to grant rights needs the role of a binding to exist
// (404), and to contain no more rights than the user has (403); strict decoding (400) and the schema of a CRD (422), which
// server-side apply answers with 500 (server/kubernetes/apply-refusals.ts); quota (403); the allocator of node ports (422; a dry
// run allocates no cluster IP); admission of Pods (403). Sources: pkg/registry/rbac/rolebinding/policybased,
// apiextensions-apiserver/pkg/apiserver/customresource_handler.go, apiserver/pkg/admission/plugin/resourcequota,
// pkg/registry/core/service/{ipallocator,portallocator}, plugin/pkg/admission/{priority,runtimeclass,serviceaccount}.

import { type Failure, isOwnReason } from '../../objects/failure.ts';
import { at, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { describe, kindOf, type Reference } from '../../objects/reference.ts';
import { type ChangeType, inverseWay, isApplied, type Verb, verbOf, wayOf, waysOf } from '../model/change.ts';
import type { SnapshotEntry, StoredResource } from '../model/entry.ts';
import { hasWebhookFor, isBindingFor, isMarkedOtherwise, isPolicyFor } from './admission.ts';

/** A write, as the rows compare it: a change, or the undo of one. */
export interface Earlier {
  /** The index of the change. */
  readonly index: number;
  readonly type: ChangeType;
  readonly target: Reference;
  readonly resource: Pick<StoredResource, 'group' | 'kind' | 'plural'>;
  /** The object before the write, and what the write makes of it: the content of a change, or the state that an undo restores. */
  readonly states?: { readonly before: Json | undefined; readonly after: Json | undefined };
}

/** The refused write, with the object as it was read. */
export interface Later extends Earlier {
  readonly content: Json | undefined;
  readonly prior?: JsonObject | undefined;
}

interface Side {
  /** Absent: any kind. */
  readonly kinds?: readonly string[];
  readonly verbs: readonly Verb[];
}

interface Row {
  readonly earlier: Side;
  readonly later: Side;
  readonly relates: (earlier: Earlier, later: Later) => boolean;
  readonly answers: (failure: Failure, earlier: Earlier, later: Later) => boolean;
}

const rbac = 'rbac.authorization.k8s.io';
const sent: readonly Verb[] = ['create', 'update', 'patch'];
const changed: readonly Verb[] = ['update', 'patch'];
const every: readonly Verb[] = [...sent, 'delete'];
const lifted: readonly Verb[] = [...changed, 'delete'];
const registration = 'admissionregistration.k8s.io';

export const rows = {
  'a role and what binds it': {
    earlier: { kinds: [`${rbac}/Role`, `${rbac}/ClusterRole`], verbs: sent },
    later: { kinds: [`${rbac}/RoleBinding`, `${rbac}/ClusterRoleBinding`], verbs: every },
    relates: isRoleOf,
    answers: (failure, earlier, later) => isAbout(failure, 404, earlier.target.name) || isAbout(failure, 403, later.target.name),
  },
  'a CRD and its instances': {
    earlier: { kinds: ['apiextensions.k8s.io/CustomResourceDefinition'], verbs: changed },
    later: { verbs: every },
    relates: ({ target }, { resource }) => target.name === `${resource.plural}.${resource.group}`,
    answers: (failure, earlier, later) => failure.origin === 'call' || isOfSchema(failure, earlier, later),
  },
  'a validating webhook': {
    // Without it, or with other rules, nothing calls it. A new one refuses more, never less.
    earlier: { kinds: [`${registration}/ValidatingWebhookConfiguration`], verbs: lifted },
    later: { verbs: every },
    relates: ({ states }, later) => hasWebhookFor(states?.before, later),
    answers: isOfWebhook,
  },
  'a mutating webhook': {
    // What it adds may be what others require, or what the schema of the kind requires.
    earlier: { kinds: [`${registration}/MutatingWebhookConfiguration`], verbs: every },
    later: { verbs: every },
    relates: ({ states }, later) => statesOf(states).some((state) => hasWebhookFor(state, later)),
    answers: isOfWebhook,
  },
  'a validating policy': {
    earlier: { kinds: [`${registration}/ValidatingAdmissionPolicy`], verbs: lifted },
    later: { verbs: every },
    relates: ({ states }, later) => isPolicyFor(states?.before, later),
    answers: ({ origin }) => origin === 'policy',
  },
  'a binding of a validating policy': {
    earlier: { kinds: [`${registration}/ValidatingAdmissionPolicyBinding`], verbs: lifted },
    later: { verbs: every },
    relates: ({ states }, later) => isBindingFor(states?.before, later),
    answers: ({ origin }) => origin === 'policy',
  },
  'a mutating policy': {
    earlier: { kinds: [`${registration}/MutatingAdmissionPolicy`], verbs: every },
    later: { verbs: sent },
    relates: ({ states }, later) => statesOf(states).some((state) => isPolicyFor(state, later)),
    answers: isOfWebhook,
  },
  'a binding of a mutating policy': {
    earlier: { kinds: [`${registration}/MutatingAdmissionPolicyBinding`], verbs: every },
    later: { verbs: sent },
    relates: ({ states }, later) => statesOf(states).some((state) => isBindingFor(state, later)),
    answers: isOfWebhook,
  },
  'labels of a Namespace and what is in it': {
    // Pod security; the Namespaces that webhooks and policies select.
    earlier: { kinds: ['/Namespace'], verbs: changed },
    later: { verbs: every },
    relates: ({ type, target, states }, later) =>
      target.name === later.target.namespace && isMarkedOtherwise(states?.before, states?.after, verbOf(type) === 'update'),
    answers: isOfAdmission,
  },
  'a ResourceQuota and what it counts': {
    earlier: { kinds: ['/ResourceQuota'], verbs: every },
    later: { verbs: sent },
    relates: (earlier, later) => isInNamespaceOf(earlier, later) && later.resource.group !== rbac,
    answers: isForbidden,
  },
  'a LimitRange and what it limits': {
    earlier: { kinds: ['/LimitRange'], verbs: every },
    later: { kinds: ['/Pod', '/PersistentVolumeClaim'], verbs: sent },
    relates: isInNamespaceOf,
    answers: isForbidden,
  },
  'a quota': {
    // Quota. The engine reviews all plain permissions before, but not the right to grant rights. A 403 for an RBAC kind may mean
    // that right, so this table leaves out such kinds.
    earlier: { verbs: lifted },
    later: { verbs: sent },
    relates: (earlier, later) => isInNamespaceOf(earlier, later) && freesFor(earlier, later),
    answers: isForbidden,
  },
  'a node port': {
    earlier: { kinds: ['/Service'], verbs: lifted },
    later: { kinds: ['/Service'], verbs: sent },
    relates: () => true,
    answers: ({ code, fields }) => code === 422 && fields.length > 0 && fields.every((field) => nodePort.test(field)),
  },
  'a PriorityClass and a Pod': {
    earlier: { kinds: ['scheduling.k8s.io/PriorityClass'], verbs: every },
    later: { kinds: ['/Pod'], verbs: ['create'] },
    relates: ({ target }, { content }) => textAt(content, 'spec', 'priorityClassName') === target.name,
    answers: isForbidden,
  },
  'the default PriorityClass and another one': {
    earlier: { kinds: ['scheduling.k8s.io/PriorityClass'], verbs: lifted },
    later: { kinds: ['scheduling.k8s.io/PriorityClass'], verbs: sent },
    relates: ({ states }, { content }) => at(states?.before, 'globalDefault') === true && at(content, 'globalDefault') === true,
    answers: isForbidden,
  },
  'a RuntimeClass and a Pod': {
    earlier: { kinds: ['node.k8s.io/RuntimeClass'], verbs: every },
    later: { kinds: ['/Pod'], verbs: ['create'] },
    relates: ({ target }, { content }) => textAt(content, 'spec', 'runtimeClassName') === target.name,
    answers: isForbidden,
  },
  'a ServiceAccount and a Pod': {
    earlier: { kinds: ['/ServiceAccount'], verbs: sent },
    later: { kinds: ['/Pod'], verbs: ['create'] },
    relates: (earlier, later) => isInNamespaceOf(earlier, later) && earlier.target.name === accountOf(later.content),
    answers: isForbidden,
  },
} satisfies Readonly<Record<string, Row>>;

const nodePort = /^spec\.ports\[\d+\]\.nodePort$/;

/** Whether a row compares more of that write than its name: then it needs the states of its object. */
export function needsStates({ resource }: Pick<Earlier, 'resource'>): boolean {
  return resource.group === registration || ['/Namespace', 'scheduling.k8s.io/PriorityClass'].includes(kindOf(resource));
}

/** The first write of `before` that may remove the reason of the refusal; undefined if there is no such write. */
export function removerOf(failure: Failure, later: Later, before: readonly Earlier[]): Earlier | undefined {
  return before.find((earlier) => Object.values<Row>(rows).some((row) => covers(row, failure, earlier, later)));
}

function covers({ earlier, later, relates, answers }: Row, failure: Failure, before: Earlier, after: Later): boolean {
  return isOf(earlier, before) && isOf(later, after) && relates(before, after) && answers(failure, before, after);
}

function isOf({ kinds, verbs }: Side, one: Earlier | Later): boolean {
  return verbs.some((verb) => mayBe(one, verb)) && (kinds === undefined || kinds.includes(kindOf(one.resource)));
}

// Of an Apply before the refused one it is not known here whether its object is there. No row is about a rollback.
function mayBe(one: Earlier | Later, verb: Verb): boolean {
  if (one.type === 'Restore') return false;
  const ways = 'content' in one ? [wayOf(one.type, one.prior !== undefined)] : waysOf(one.type);
  return ways.some((way) => verbOf(way) === verb);
}

function statesOf(states: Earlier['states']): readonly (Json | undefined)[] {
  return states === undefined ? [undefined] : [states.before, states.after].filter((state) => state !== undefined);
}

function isInNamespaceOf(one: Earlier, other: Earlier): boolean {
  return one.target.namespace !== undefined && one.target.namespace === other.target.namespace;
}

// Policies and webhooks give their reasons as causes, or name no object.
function isAbout({ code, subject }: Failure, wanted: number, name: string): boolean {
  return code === wanted && subject === name;
}

function isForbidden(failure: Failure, _earlier: Earlier, later: Later): boolean {
  return isAbout(failure, 403, later.target.name);
}

// A webhook chooses code, reason and causes. 404 and 409 are read again first, whoever said them.
function isOfWebhook({ kind, code, reason }: Failure): boolean {
  return (kind === 'refused' || kind === 'transient') && code !== 0 && !isOwnReason(reason);
}

// As admission itself says it, and as webhooks mostly do: without fields.
function isOfAdmission(failure: Failure): boolean {
  return failure.origin !== undefined || (isOfWebhook(failure) && failure.kind === 'refused' && failure.fields.length === 0);
}

function isOfSchema({ code, reason, fields }: Failure, _earlier: Earlier, { type }: Later): boolean {
  if (code === 400) return reason === 'BadRequest';
  if (code === 422) return fields.length > 0;
  return code === 500 && reason === 'InvalidContent' && isApplied(type);
}

// No user can change the role of a binding. So if content does not name the role, the existing binding names it.
function isRoleOf({ resource, target }: Earlier, { content, prior, target: { namespace } }: Later): boolean {
  const role = at(content, 'roleRef') ?? at(prior, 'roleRef');
  const isNear = target.namespace === undefined || target.namespace === namespace;
  return isNear && textAt(role, 'kind') === resource.kind && textAt(role, 'name') === target.name;
}

// A quota counts every object once. Of some kinds it also counts what a later write may change: then an update may need, or free, room.
// Source: pkg/quota/v1/evaluator/core (Handles).
const recounted: readonly string[] = ['/Service', '/PersistentVolumeClaim', '/Pod'];

function freesFor(earlier: Earlier, later: Later): boolean {
  const kind = kindOf(earlier.resource);
  if (kind !== kindOf(later.resource) || later.resource.group === rbac) return false;
  return recounted.includes(kind) || (mayBe(earlier, 'delete') && mayBe(later, 'create'));
}

function accountOf(pod: Json | undefined): string {
  return textAt(pod, 'spec', 'serviceAccountName') ?? 'default';
}

/** A change with all that its snapshot has of it, as a write of this table. */
export function changeWriteOf({ index, type, target, resource, prior, expected }: SnapshotEntry): Later {
  const states = { before: prior ?? {}, after: expected };
  return { index, type, target, resource, content: expected, prior, states };
}

/** The undo of a change, as a write of this table. */
export function undoWriteOf({ index, type, target, resource, prior, expected }: SnapshotEntry): Later {
  const states = { before: expected, after: prior };
  return { index, type: inverseWay(type), target, resource, content: prior, prior: expected, states };
}

/** The note of the item of a deferred change. */
export function deferredNote({ code, reason }: Failure, { index, target }: Earlier): string {
  return `its dry run was refused (${code} ${reason}) and is made again in its turn, after spec.changes[${index}] (${describe(target)})`;
}

/** The note of an undo whose dry run was refused because of what the same undo takes back. */
export function deferredUndoNote({ code, reason }: Failure, { index, target }: Earlier): string {
  return `its dry run was refused (${code} ${reason}) and is made again in its turn, after the undo of spec.changes[${index}] (${describe(target)})`;
}

/** The note of the item of a change whose version is not served yet (404). */
export function unservedNote(by: number, { target }: Pick<Earlier, 'target'>): string {
  return `its dry run is made in its turn, after spec.changes[${by}] makes the API server serve ${target.apiVersion}`;
}
