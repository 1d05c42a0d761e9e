// The objects that change the writes of other objects: mutating webhooks, mutating policies with their bindings, and LimitRanges with
// defaults. An undo writes objects exactly as they were. So it first takes back such objects that the release has created or changed, and
// recreates last those that the release has deleted (undo-order.ts).
//
// Sources: plugin/pkg/admission/limitranger (defaults at the creation of Pods and claims). No webhook and no policy reviews an object
// of admissionregistration.k8s.io (apiserver pkg/admission/plugin/webhook/predicates/rules).

import type { JsonObject } from '../../objects/json.ts';
import { kindOf } from '../../objects/reference.ts';
import type { ChangeType } from '../model/change.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { hasWebhookFor, isBindingFor, isPolicyFor } from './admission.ts';

interface Write extends Pick<SnapshotEntry, 'target' | 'resource'> {
  readonly type: ChangeType;
}

type Changes = (state: JsonObject, write: Write, changer: SnapshotEntry) => boolean;

const registration = 'admissionregistration.k8s.io';

const kinds: Readonly<Record<string, Changes>> = {
  [`${registration}/MutatingWebhookConfiguration`]: hasWebhookFor,
  [`${registration}/MutatingAdmissionPolicy`]: isPolicyFor,
  [`${registration}/MutatingAdmissionPolicyBinding`]: isBindingFor,
  '/LimitRange': (_state, { type, target, resource }, changer) =>
    type !== 'Update' &&
    target.namespace === changer.target.namespace &&
    ['/Pod', '/PersistentVolumeClaim'].includes(kindOf(resource)),
};

/** Whether writes of other objects depend on the object of that change. */
export function isChanger({ resource }: Pick<SnapshotEntry, 'resource'>): boolean {
  return kindOf(resource) in kinds;
}

/** Whether the object of `changer`, as it was before or after its change, may change the write that undoes the other change. */
export function mayChangeUndo(changer: SnapshotEntry, undone: SnapshotEntry): boolean {
  return changes(changer, changer.prior, undone) || changes(changer, changer.expected, undone);
}

/** Whether nothing of `changer` may change the write any more once its own undo is made. */
export function isFreedBy(changer: SnapshotEntry, undone: SnapshotEntry): boolean {
  return changes(changer, changer.expected, undone) && !changes(changer, changer.prior, undone);
}

function changes(changer: SnapshotEntry, state: JsonObject | undefined, undone: SnapshotEntry): boolean {
  const type = undoTypeOf(undone);
  if (state === undefined || type === undefined || undone.resource.group === registration) return false;
  return kinds[kindOf(changer.resource)]?.(state, { ...undone, type }, changer) === true;
}

/** Undefined if the undo only deletes. */
function undoTypeOf({ type, recreates }: SnapshotEntry): ChangeType | undefined {
  if (recreates === true) return 'Apply';
  if (type === 'Create') return undefined;
  return type === 'Delete' ? 'Create' : 'Update';
}
