// Why an object that was made here is not deleted again, or not yet: others would lose what is in it, hangs on it, or lies behind it.
import { shownOf, unlistedNote } from '../checks/one-way.ts';
import { type JsonObject, textAt } from '../model/json.ts';
import type { Reason } from '../model/reason.ts';
import { describe } from '../model/reference.ts';
import type { Evidence } from './attribute.ts';

/** What goes with an object. */
export interface Hanging {
  /** What others have put into it or hung on it, and would lose. */
  readonly contents: readonly string[];
  /** What goes with it and is itself to be taken back before. */
  readonly ownContents: readonly string[];
  /** Claims with a volume that Kubernetes has made for it, and deletes with it. */
  readonly claims?: readonly string[];
  /** Kinds of which it is not known what would go with it. */
  readonly unlisted: readonly string[];
  /** The same, since they cannot be listed. */
  readonly failing: readonly string[];
  /** Whether every change had been made: from then on others rely on what is there. */
  readonly wasCommitted: boolean;
}

type Kept =
  | { readonly kind: 'wait'; readonly message: string }
  | { readonly kind: 'conflict'; readonly reason: Reason; readonly message: string };

const mostShown = 5;

/** Others would lose what is in it, hangs on it, or is stored behind it. */
export function keptFor(evidence: Evidence & Hanging, live: JsonObject): Kept | undefined {
  const { entry, contents, ownContents, wasCommitted } = evidence;
  const name = describe(entry.target);
  if (contents.length > 0) {
    const what = `${name} was created by this Transaction, and objects of others would be deleted with it`;
    return notEmpty(`${what}: ${contents.slice(0, mostShown).join(', ')}`);
  }
  if (ownContents.length > 0)
    return { kind: 'wait', message: `waiting to undo ${name} until these are removed: ${shownOf(ownContents, mostShown)}` };
  const behind = storedBehind(evidence, name);
  if (behind !== undefined) return behind;
  const volume = wasCommitted ? boundVolume(evidence, live) : undefined;
  if (volume === undefined) return undefined;
  return notEmpty(`${name} was created by this Transaction and is bound to PersistentVolume ${volume}, which may hold data`);
}

function storedBehind({ claims = [], wasCommitted }: Hanging, name: string): Kept | undefined {
  if (!wasCommitted || claims.length === 0) return undefined;
  const which = shownOf(claims, mostShown);
  return notEmpty(
    `${name} was created by this Transaction, and Kubernetes deletes these claims with it: ${which}; their volumes may hold data`,
  );
}

export function unlistedPart({ unlisted, failing }: Pick<Hanging, 'unlisted' | 'failing'>): { readonly note?: string } {
  const note = unlistedNote(unlisted, failing);
  return note === undefined ? {} : { note };
}

/** The volume behind a claim. Who names one in content has bound nothing yet. */
function boundVolume({ entry }: Evidence, live: JsonObject): string | undefined {
  if (entry.resource.group !== '' || entry.resource.kind !== 'PersistentVolumeClaim') return undefined;
  const volume = textAt(live, 'spec', 'volumeName');
  const isBound = textAt(live, 'status', 'phase') === 'Bound' || volume !== textAt(entry.expected, 'spec', 'volumeName');
  return isBound ? (volume ?? '') : undefined;
}

function notEmpty(message: string): Kept {
  return { kind: 'conflict', reason: 'NotEmpty', message };
}
