// Reads what a restored object depends on: Kubernetes would delete it again if its owners or its ServiceAccount are missing. And what
// others would lose by it.

import { isToken, tokenAccount } from '../../objects/content/generated.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { describe, kindOf } from '../../objects/reference.ts';
import type { ItemView, Presence } from '../observe/observation.ts';
import { serviceAccountOf, serviceAccounts } from '../writes/resources.ts';
import { losesPods } from './consequences.ts';
import { lookerOf, type Standing } from './read-deleted.ts';
import { readOverwritten } from './read-endpoints.ts';
import { lookForOwners, ownersLackedBy } from './read-owners.ts';
import { readScaledClaims } from './read-volumes.ts';

type Found = Partial<
  Pick<
    ItemView,
    | 'goneOwners'
    | 'hiddenOwners'
    | 'unreadableOwner'
    | 'tokenOf'
    | 'contents'
    | 'ownContents'
    | 'behind'
    | 'unlisted'
    | 'contentsTrouble'
  >
>;

export async function readRestored(standing: Standing, live: Presence): Promise<Found> {
  const { entry } = standing;
  // An object that is to be recreated, or one whose content is to be restored, lacks these owners.
  const isToComeBack = entry.type === 'Delete' ? live.kind === 'absent' : live.kind === 'present';
  if (!isToComeBack) return {};
  const held = live.kind === 'present' ? live.object : undefined;
  const [owners, token, overwritten, behind] = await Promise.all([
    findOwners(standing, held),
    held === undefined ? findAccount(standing) : {},
    readOverwritten(standing, held),
    held === undefined ? {} : findStored(standing, held),
  ]);
  return { ...owners, ...token, ...overwritten, ...behind };
}

/** What a StatefulSet would take with it that has fewer Pods again. */
async function findStored({ source, transaction, entry }: Standing, live: JsonObject): Promise<Found> {
  if (kindOf(entry.resource) !== 'apps/StatefulSet' || entry.prior === undefined) return {};
  if (!losesPods(live, entry.prior)) return {};
  const states = { live, prior: entry.prior, since: transaction.createdAt };
  const found = await readScaledClaims(lookerOf(source, transaction), states);
  if (found.kind === 'trouble') return { contentsTrouble: found.failure };
  const claims = found.claims.map(describe);
  return { behind: { claims, volumes: found.volumes }, unlisted: found.unlisted };
}

async function findOwners({ source, transaction, entry }: Standing, held: JsonObject | undefined): Promise<Found> {
  const lacking = ownersLackedBy(held, entry.prior);
  const found = await lookForOwners(source.reader, serviceAccountOf(transaction), lacking, entry.target.namespace);
  const uidsOf = (owners: readonly JsonObject[]): readonly string[] => owners.map((owner) => textAt(owner, 'uid') ?? '');
  return {
    goneOwners: uidsOf(found.gone),
    hiddenOwners: uidsOf([...found.hidden, ...found.unserved]),
    ...(found.trouble === undefined ? {} : { unreadableOwner: found.trouble }),
  };
}

async function findAccount({ source, transaction, entry }: Standing): Promise<Found> {
  const { prior, target } = entry;
  if (prior === undefined || !isToken(prior) || target.namespace === undefined) return {};
  const { name, uid } = tokenAccount(prior);
  const location = { resource: serviceAccounts, namespace: target.namespace, name };
  const answer = await source.reader.getMetadata(location, serviceAccountOf(transaction));
  if (answer.kind === 'ok') return { tokenOf: textAt(answer.object, 'metadata', 'uid') === uid ? 'same' : 'other' };
  if (answer.failure.kind === 'transient') return { contentsTrouble: answer.failure };
  // A ServiceAccount that may not be read may be another one: the Secret is recreated without its token, and gets a new one.
  return { tokenOf: answer.failure.kind === 'absent' ? 'nobody' : 'other' };
}
