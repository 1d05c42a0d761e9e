// Recreating a deleted object, or completing an object that an undo has already recreated. The token of a ServiceAccount needs its
// ServiceAccount: Kubernetes deletes the token if the ServiceAccount is gone, or has another uid than the token names.

import { asNew, withoutKeys } from '../../objects/content/content.ts';
import { kubernetesManagers } from '../../objects/content/controller-writes.ts';
import { managersOf } from '../../objects/content/fields.ts';
import { isToken, tokenAccount, withoutGenerated, withoutToken } from '../../objects/content/generated.ts';
import { listKindsOf } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import { hasRestored } from '../../objects/content/ownership.ts';
import { at, type JsonObject, withKey } from '../../objects/json.ts';
import { describe, type Reference } from '../../objects/reference.ts';
import type { Hazards } from '../hazards/hazards.ts';
import { joined, noted, ownersNote } from '../hazards/messages.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { type Evidence, type ForeignPath, foreignPath } from './attribute.ts';
import { goingSentence } from './former.ts';
import { countedOf, isUncounted } from './uncounted.ts';

export type Recreation =
  /** `withoutToken`: the ServiceAccount may be another one now, so the object gets a new token. */
  | { readonly kind: 'recreate'; readonly note?: string; readonly withoutToken?: true }
  /** `missing`: what must be created first. */
  | { readonly kind: 'wait'; readonly message: string; readonly missing?: Reference };

export interface Completion {
  readonly kind: 'complete';
  readonly live: JsonObject;
  readonly note?: string;
}

const newToken = 'it gets a new token: its ServiceAccount was recreated or cannot be read';

export function recreation({ entry, isSealed, hazards }: Evidence & { readonly hazards: Hazards }): Recreation {
  const owners = ownersNote(hazards, isSealed);
  const name = describe(entry.target);
  switch (hazards.tokenOf) {
    case 'missing':
      return {
        kind: 'wait',
        message: `${name} is the token of a ServiceAccount that does not exist; waiting until the ServiceAccount is recreated`,
        missing: accountOf(entry),
      };
    case 'other':
      return {
        kind: 'recreate',
        withoutToken: true,
        note: joined(newToken, owners) ?? newToken,
      };
    default:
      return { kind: 'recreate', ...noted(owners) };
  }
}

function accountOf({ prior, target: { namespace } }: SnapshotEntry): Reference {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: tokenAccount(prior ?? {}).name };
  return namespace === undefined ? account : { ...account, namespace };
}

/** Whether a process created a deleted object again for this undo, and died before it restored the owners of its fields. */
export function isRecreatedByUndo({ managers: { restore } }: Evidence, live: JsonObject): boolean {
  if (!hasRestored(live, restore)) return false;
  return managersOf(live).every(({ name }) => name === restore || kubernetesManagers.includes(name));
}

export function completion({ entry, isSealed, hazards }: Evidence & { readonly hazards: Hazards }, live: JsonObject): Completion {
  const { prior } = entry;
  const old = prior !== undefined && isToken(prior) ? tokenAccount(prior).uid : '';
  const token = old === '' || old === tokenAccount(live).uid ? undefined : newToken;
  return { kind: 'complete', live, ...noted(joined(token, ownersNote(hazards, isSealed))) };
}

/** The deleted object itself, or its successor: either object will be gone, so neither object counts as the restored object. */
export function awaitGone({ entry, isSealed }: Pick<Evidence, 'entry' | 'isSealed'>, live: JsonObject): Recreation {
  return { kind: 'wait', message: `${goingSentence(entry.target, live, isSealed)}; it is recreated then` };
}

// The differences between an object that another writer recreated and the object that our change deleted.

export function recreatedContent(evidence: Evidence, live: JsonObject): readonly ForeignPath[] {
  const { prior } = evidence.entry;
  if (prior === undefined) return [];
  const kinds = listKindsOf(prior, live);
  // A token for another ServiceAccount with this name is a different token, whoever made it.
  const isOther = isToken(prior) && isToken(live) && tokenAccount(prior).uid !== tokenAccount(live).uid;
  const known = (object: JsonObject): JsonObject => comparable(isOther ? withoutToken(object) : object, evidence);
  const paths = differences(known(prior), known(live), kinds);
  return paths.filter((path) => !isUncounted(live, path, kinds)).map((path) => foreignPath(live, path));
}

function comparable(object: JsonObject, { entry }: Evidence): JsonObject {
  const fresh = withoutGenerated(asNew(countedOf(object, entry)));
  return withKey(fresh, 'metadata', withoutKeys(at(fresh, 'metadata'), ['annotations', 'ownerReferences']));
}
