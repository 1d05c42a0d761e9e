// Whether a change that the API server refuses to make in place can be made by deleting the object and creating it again
// (whenImmutable: Recreate).
//
// The API server answers 422 both to a field that may not change and to a value that no object may have. A dry run of the Create
// distinguishes the two. The API server validates and admits a new object before it finds that the name is taken. So AlreadyExists
// shows that the content is valid, and that only the former object is in its way.
// Source: k8s.io/apiserver pkg/registry/generic/registry/store.go, Create.

import type { Precondition, Reader, Write } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { removerOf } from '../checks/deferred.ts';
import type { Resolved } from '../checks/targets.ts';
import { isLostForGood } from '../checks/validity.ts';
import { madeOf, typesWith } from '../model/change.ts';
import { isSealed } from '../model/entry.ts';
import type { Transaction } from '../model/transaction.ts';
import { changeWrite, locationOf } from '../writes/change.ts';
import { preconditionOf, serviceAccountOf } from '../writes/resources.ts';
import { earlierWrites, type Others } from './earlier-writes.ts';

interface Context extends Others {
  readonly reader: Reader;
  readonly transaction: Transaction;
}

type Refused = Resolved & { readonly prior: JsonObject };

type Recreation =
  | { readonly kind: 'possible'; readonly expected: JsonObject; readonly note: string }
  | { readonly kind: 'refused'; readonly failure: Failure; readonly what: string };

const invalid = 422;

/** `failure`: of the dry run in place. Undefined if the spec does not allow it, or if the failure is not about fields. */
export async function tryToRecreate(context: Context, refused: Refused, failure: Failure): Promise<Recreation | undefined> {
  if (refused.change.whenImmutable !== 'Recreate' || !isAboutFields(failure)) return undefined;
  const { reader, transaction } = context;
  const precondition = preconditionOf(refused.prior);
  if (precondition === undefined) return undefined;
  const deleted = await reader.dryRun(deletion(refused, transaction, precondition));
  if (deleted.kind === 'failed')
    return { kind: 'refused', failure: deleted.failure, what: 'was refused by a dry run of its Delete' };
  const creating = creation(refused, transaction);
  const created = await reader.dryRun(creating);
  // Nothing is in the way: the object has vanished meanwhile.
  if (created.kind === 'ok') return { kind: 'refused', failure: { ...failure, kind: 'absent' }, what: 'has vanished' };
  const isPossible = created.failure.kind === 'exists' || (await mayPass(context, refused, created.failure));
  return isPossible
    ? { kind: 'possible', expected: creating.object, note: noteOf(refused, failure, transaction) }
    : { kind: 'refused', failure: created.failure, what: 'was refused by a dry run of creating it again' };
}

/** How the user allows that the object is recreated; undefined if the API server would not take the content for a new object either. */
export async function howToRecreate(context: Context, refused: Refused, failure: Failure): Promise<string | undefined> {
  const { change, target, prior } = refused;
  const mayRecreate = typesWith('whenImmutable').includes(change.type) && change.whenImmutable !== 'Recreate';
  // The content of such an object is lost with the object: no user should recreate it because of a message.
  if (!mayRecreate || !isAboutFields(failure) || isLostForGood(target) || preconditionOf(prior) === undefined) return undefined;
  const created = await context.reader.dryRun(creation(refused, context.transaction));
  if (created.kind === 'ok' || created.failure.kind !== 'exists') return undefined;
  return 'write whenImmutable: Recreate (janus apply --recreate-immutable) to delete the object and create it again';
}

function isAboutFields({ code, fields }: Failure): boolean {
  return code === invalid && fields.length > 0;
}

function deletion({ target, resource }: Refused, transaction: Transaction, precondition: Precondition): Write {
  return { verb: 'delete', identity: serviceAccountOf(transaction), location: locationOf(target, resource), precondition };
}

// The API server would refuse an apply because of the existing object, before it checks the content.
function creation({ change, target, resource, prior }: Refused, transaction: Transaction): Extract<Write, { verb: 'create' }> {
  const made = madeOf(change, { type: 'Create' });
  const write = changeWrite({ transaction, change: made, target, resource, prior, live: prior }, undefined);
  if (write.verb === 'create') return write;
  if (write.verb !== 'apply') throw new Error(`a ${write.verb} creates nothing`);
  const { identity, location, object, fieldManager } = write;
  return { verb: 'create', identity, location, object, fieldManager };
}

// A quota or a node port may be taken by the former object alone, and an earlier change may remove the reason.
async function mayPass(context: Context, refused: Refused, failure: Failure): Promise<boolean> {
  const { index, target, resource, change } = refused;
  const own = { index, type: 'Delete', target, resource } as const;
  const before = [...(await earlierWrites(refused, context)), own];
  return removerOf(failure, { ...own, type: 'Create', content: change.content }, before) !== undefined;
}

const mostFields = 3;
const longestField = 100;

function noteOf(refused: Refused, { code, fields }: Failure, transaction: Transaction): string {
  const shown = fields.slice(0, mostFields).map((field) => foreign(field, longestField));
  const where = isSealed(refused, transaction) ? '' : ` at ${shown.join(', ')}${fields.length > mostFields ? ', …' : ''}`;
  return `the API server does not change it in place (${code}${where}): it is deleted and created again`;
}
