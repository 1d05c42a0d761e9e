// What a user reads of the undo of one change: the verdict, and the fields, bounded and without secret values.

import type { Packer } from '../../objects/cluster.ts';
import { contentOf } from '../../objects/content/content.ts';
import { type ListKinds, listKindsOf, valueAt } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import { describePath, describeSealedPath, type Path } from '../../objects/content/path.ts';
import type { Json, JsonObject } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import type { ForeignPath } from '../attribution/attribute.ts';
import { changedFields } from '../attribution/since.ts';
import type { UndoEvidence, UndoVerdict } from '../attribution/undo.ts';
import { joined } from '../hazards/messages.ts';
import type { Reason } from '../model/reason.ts';
import { type UndoField, type UndoFinding, undoLimits } from '../model/undo.ts';

/** One change whose undo is evaluated. */
export interface Subject {
  readonly evidence: UndoEvidence;
  readonly packer: Pick<Packer, 'tag'>;
}

const sealed = '‹sealed›';

/** The finding of a verdict, if the API server admits all of its writes. */
export function findingOf(subject: Subject, verdict: UndoVerdict): UndoFinding {
  switch (verdict.kind) {
    case 'delete':
      return finding(subject, gone(subject), { message: verdict.note });
    case 'recreate':
    case 'complete':
      return finding(subject, 'Recreate', { message: verdict.note });
    case 'content': {
      const message = joined(verdict.note, verdict.staying);
      const back = changedBack(subject, verdict.restored);
      return finding(subject, back.fields === undefined ? 'Nothing' : 'Restore', { message, ...back }, verdict.restored);
    }
    case 'bridge':
      return finding(subject, 'Restore', { message: verdict.message });
    case 'restored':
      return finding(subject, 'Nothing', { message: verdict.note });
    case 'fence':
      return findingOf(subject, verdict.end);
    case 'wait':
      return finding(subject, awaited(subject), { message: verdict.message });
    case 'conflict':
      // The undo of the others goes on: nothing can be lost by it.
      if (verdict.reason === 'Gone') return finding(subject, 'Nothing', { reason: verdict.reason, message: verdict.message });
      return blocked(subject, verdict, inTheWay(subject, verdict.foreign ?? []));
    case 'readMore':
      return finding(subject, 'Undecided', { message: 'other Transactions over the same object were not read' });
  }
}

/** The result for an object that a Create made: if the change recreated its object, the former object returns. */
function gone({ evidence: { entry } }: { readonly evidence: Pick<UndoEvidence, 'entry'> }): UndoFinding['verdict'] {
  return entry.recreates === true ? 'Recreate' : 'Delete';
}

// What a wait ends with: the object goes, comes back, or gets its content back.
function awaited({ evidence: { entry } }: Subject): UndoFinding['verdict'] {
  if (entry.type === 'Create') return gone({ evidence: { entry } });
  return entry.type === 'Delete' ? 'Recreate' : 'Restore';
}

/** Of a change that cannot be undone. */
export function blocked(
  subject: Subject,
  { reason, message }: { readonly reason: Reason; readonly message: string },
  fields: Fields = {},
): UndoFinding {
  return finding(subject, 'Blocked', { reason, message, ...fields });
}

/** Of a change of which it is not known for now. */
export function undecided(subject: Subject, message: string, reason?: Reason): UndoFinding {
  return finding(subject, 'Undecided', { message, ...(reason === undefined ? {} : { reason }) });
}

type Fields = Pick<UndoFinding, 'fields' | 'moreFields'>;

interface Details extends Fields {
  readonly reason?: Reason;
  readonly message?: string | undefined;
}

/** `restored`: the content that the undo writes. */
function finding(
  subject: Subject,
  verdict: UndoFinding['verdict'],
  { message, ...details }: Details,
  restored?: JsonObject,
): UndoFinding {
  const { entry, live } = subject.evidence;
  const { reason, fields } = details;
  const known = JSON.stringify([entry.index, verdict, reason, fields, details.moreFields]);
  return {
    index: entry.index,
    verdict,
    ...(message === undefined ? {} : { message: foreign(message, undoLimits.message) }),
    ...details,
    state: subject.packer.tag(`${known}${writtenBack(subject, restored)}`, 'undo-plan'),
    object: live ?? entry.expected ?? entry.prior,
  };
}

// All values that the undo writes, also values that no message may show. It leaves out versions, times, and values that controllers
// write.
function writtenBack({ evidence: { entry, live } }: Subject, restored: JsonObject | undefined): string {
  if (restored === undefined || live === undefined) return '';
  const kinds = listKindsOf(entry.prior, entry.expected, live);
  const now = contentOf(live, entry.resource);
  const paths = differences(restored, now, kinds);
  return JSON.stringify(paths.map((path) => [path, valueAt(restored, path, kinds), valueAt(now, path, kinds)]));
}

function changedBack({ evidence }: Subject, restored: JsonObject): Fields {
  const { entry, live } = evidence;
  if (live === undefined) return {};
  const kinds = listKindsOf(entry.prior, entry.expected, live);
  const now = contentOf(live, entry.resource);
  return bounded(changedFields(now, restored, kinds), (path) => ({
    path: pathIn(path, evidence),
    ...side('before', restored, { path, kinds, evidence }),
    ...side('now', now, { path, kinds, evidence }),
  }));
}

function inTheWay({ evidence }: Subject, paths: readonly ForeignPath[]): Fields {
  const { entry, live } = evidence;
  const kinds = listKindsOf(entry.prior, entry.expected, live);
  const managers = new Map(paths.map(({ path, manager }) => [path, manager]));
  return bounded([...managers.keys()], (path) => ({
    path: pathIn(path, evidence),
    manager: foreign(managers.get(path) ?? 'unknown', undoLimits.path),
    ...side('before', entry.prior, { path, kinds, evidence }),
    ...side('released', entry.expected, { path, kinds, evidence }),
    ...side('now', live, { path, kinds, evidence }),
  }));
}

function bounded(paths: readonly Path[], fieldOf: (path: Path) => UndoField): Fields {
  if (paths.length === 0) return {};
  const more = paths.length - undoLimits.fields;
  return { fields: paths.slice(0, undoLimits.fields).map(fieldOf), ...(more > 0 ? { moreFields: more } : {}) };
}

function pathIn(path: Path, { isSealed }: UndoEvidence): string {
  return foreign((isSealed ? describeSealedPath : describePath)(path), undoLimits.path);
}

interface At {
  readonly path: Path;
  readonly kinds: ListKinds;
  readonly evidence: UndoEvidence;
}

function side(name: 'before' | 'released' | 'now', object: Json | undefined, { path, kinds, evidence }: At): Partial<UndoField> {
  const value = valueAt(object, path, kinds);
  if (value === undefined) return {};
  return { [name]: evidence.isSealed ? sealed : foreign(JSON.stringify(value), undoLimits.value) };
}
