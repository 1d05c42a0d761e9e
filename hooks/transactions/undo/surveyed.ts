// The input of a survey of a requested undo, and its findings.

import type { UndoChoices } from '../checks/undo-choices.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { UndoFinding } from '../model/undo.ts';
import type { StoredSnapshot } from '../observe/awaited.ts';
import type { ItemContext } from '../observe/item.ts';
import type { Observation, Presence } from '../observe/observation.ts';

export interface SurveyContext {
  readonly observing: Omit<ItemContext, 'index' | 'direction' | 'carry' | 'mayAssume' | 'earlier' | 'ahead' | 'shared'>;
  /** Its status is that with which the undo begins. */
  readonly observation: Observation;
  readonly snapshot: Extract<StoredSnapshot, { kind: 'stored' }>;
  readonly choices: UndoChoices;
  /** The entries of the changes to undo, in their order. */
  readonly toUndo: readonly SnapshotEntry[];
}

/** The finding, and the object as the undo would leave it. */
export interface Surveyed {
  readonly finding: UndoFinding;
  readonly entry: SnapshotEntry;
  readonly after: Presence;
  /** The indexes of changes of this Transaction whose targets are in the way until the engine has undone them. */
  readonly awaits: readonly number[];
  /** What the undo must be allowed to do with it, and no dry run shows. */
  readonly verbs: readonly string[];
}
