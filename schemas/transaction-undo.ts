// The answer of the engine to a request for a plan of an undo, and to a request for an undo that it refuses.
import type { Schema } from './schema.ts';
import { statusLimits, string } from './transaction-item.ts';

const count = (description: string): Schema => ({ type: 'integer', description, minimum: 0, maximum: 1_000_000 });

const sealedIndexes = (state: string): Schema => ({
  type: 'array',
  description: `Those that are ${state}.`,
  maxItems: 500,
  items: count('Index of the change.'),
  'x-kubernetes-list-type': 'atomic',
});

const undoField: Schema = {
  type: 'object',
  description: 'A field that stops the undo, or that the undo changes back.',
  required: ['path'],
  properties: {
    path: string('Path of the field.', 512),
    manager: string('The field managers that own the field.', 512),
    before: string('JSON text of the value before the change, cut.', 256),
    released: string('JSON text of the value that the change wrote, cut.', 256),
    now: string('JSON text of the value in the cluster, cut.', 256),
  },
};

const undoItem: Schema = {
  type: 'object',
  description: 'The effect of the undo on one change.',
  required: ['index', 'verdict', 'target'],
  properties: {
    index: count('Index of the change in spec.changes.'),
    verdict: {
      type: 'string',
      description:
        'Delete (the change created the object), Recreate (the change deleted it), Restore (the change modified it), Nothing (no field has changed, or the object is gone), Keep (left on request), Blocked or Undecided (see message).',
      enum: ['Delete', 'Recreate', 'Restore', 'Nothing', 'Keep', 'Blocked', 'Undecided'],
    },
    target: string(
      'Kind and name of the object, with its namespace if it differs from that of the Transaction.',
      statusLimits.target,
    ),
    reason: string('One CamelCase word for programs.', statusLimits.errorReason),
    message: string('The reason, the other client, and the next step for the user.', statusLimits.errorMessage),
    fields: {
      type: 'array',
      description: 'The fields concerned, at most 5.',
      maxItems: 5,
      items: undoField,
      'x-kubernetes-list-type': 'atomic',
    },
    moreFields: count('Number of fields that are not listed.'),
  },
};

export const undoAnswer: Schema = {
  type: 'object',
  description:
    'The answer to the last request for a plan (tx.janus.io/plan-undo), or for an undo that the engine refused before its first write. Absent after an undo has begun.',
  required: ['request', 'reason', 'message', 'digest', 'items'],
  properties: {
    sealed: {
      type: 'object',
      description: 'Indexes in spec.changes of sealed objects, by what has become of each since. Of a plan.',
      properties: Object.fromEntries(
        ['asReleased', 'changed', 'deleted', 'created'].map((state) => [state, sealedIndexes(state)]),
      ),
    },
    request: {
      type: 'object',
      description: 'The annotation that this answers, and its value.',
      required: ['annotation', 'value'],
      properties: {
        annotation: string('Name of the annotation.', 316),
        value: string('Value of the annotation, or its digest if the value is long.', 256),
      },
    },
    reason: {
      type: 'string',
      description: 'Planned, UndoRefused (an item is blocked), or PlanChanged (tx.janus.io/undo-digest names another plan).',
      enum: ['Planned', 'UndoRefused', 'PlanChanged'],
    },
    message: string(
      'The effect of the undo, or why the engine refused it, and the next step for the user.',
      statusLimits.errorMessage,
    ),
    digest: string('SHA-256 of all decisions; a request may name it in tx.janus.io/undo-digest.', 128),
    counts: {
      type: 'object',
      description: 'Number of changes by verdict.',
      properties: {
        delete: count('Objects that the undo deletes.'),
        recreate: count('Objects that the undo creates again.'),
        restore: count('Objects that the undo changes back.'),
        nothing: count('Changes that are not in their objects.'),
        keep: count('Changes that the undo leaves on request.'),
        blocked: count('Changes that cannot be undone.'),
        undecided: count('Changes whose objects cannot be read for now.'),
      },
    },
    items: {
      type: 'array',
      description: 'The decisions, blocked ones first, at most 20.',
      maxItems: 20,
      items: undoItem,
      'x-kubernetes-list-type': 'atomic',
    },
    moreItems: count('Number of changes that are not listed.'),
  },
};
