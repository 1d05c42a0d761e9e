// What the engine reports of one change, and how the texts of a status are bounded (transaction-status.ts says why).
import type { Schema } from './schema.ts';

/** The longest texts and lists that a status may hold. */
export const statusLimits = {
  message: 32_768,
  errorReason: 256,
  errorMessage: 4096,
  note: 4096,
  fieldManager: 128,
  tookFieldsFrom: 64,
  drift: 16_384,
  target: 768,
  found: 256,
  handledAnnotations: 16,
  handledAnnotationValue: 262_144,
} as const;

/** Derived from the flags and the phase (docs/reference.md); for people and for filters, nothing is decided on it. */
export const itemStates = [
  'Waiting',
  'Prepared',
  'Applying',
  'Applied',
  'Failed',
  'Restoring',
  'Restored',
  'NotRestored',
  'Kept',
  'Skipped',
] as const;

const flag = (description: string): Schema => ({ type: 'boolean', description });

// Not `format: date-time`: with it the API server also lets an empty list pass for a string.
const timePattern = String.raw`^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(\.\d{1,9})?(Z|[+-][0-2]\d:[0-5]\d)$`;

export const time = (description: string): Schema => ({ type: 'string', description, maxLength: 35, pattern: timePattern });

export const string = (description: string, maxLength: number): Schema => ({ type: 'string', description, maxLength });

const gateState: Schema = {
  type: 'object',
  description: 'How far the gate of this change is.',
  required: ['since'],
  properties: {
    since: time('Since when it is waited for.'),
    readySince: time('Since when the object has been ready without a break.'),
    passed: flag('The object was ready for long enough.'),
    found: string('What was found last.', statusLimits.found),
  },
};

export const item: Schema = {
  type: 'object',
  description: 'How far one change is.',
  properties: {
    target: string(
      'Kind and name of the object, with its namespace where that is not the one of the Transaction; cut where there is no room.',
      statusLimits.target,
    ),
    state: {
      type: 'string',
      description:
        'Waiting (nothing stored), Prepared, Applying (may have been sent), Applied, Failed (refused), Restoring (the next of a rollback), Restored, NotRestored (see error), Kept (left on request) or Skipped (not applied).',
      enum: itemStates,
    },
    lockLease: string('Name of the Lease, in the namespace of the engine, that locks the target.', 253),
    prepared: flag('The prior state of the target is stored.'),
    announced: flag('Its write may have been sent: nothing is attempted that was not announced.'),
    committed: flag('The change was applied.'),
    rolledBack: flag('The change is undone, or was found not to be applied.'),
    left: flag('The change could not be undone; error says why.'),
    kept: flag('The undo left the change, as tx.janus.io/undo-keep asks; note says why.'),
    overwrite: flag('The undo overwrites what others wrote in the object, as tx.janus.io/undo-overwrite asks.'),
    uid: string('UID of the object that the change has created, or that the undo of a Delete has created again.', 128),
    resourceVersion: string('Version of the object once the change was made, or when it was deleted.', 64),
    error: {
      type: 'object',
      description: 'Why the change could not be applied or undone.',
      required: ['reason', 'message'],
      properties: {
        reason: {
          type: 'string',
          description: 'One CamelCase word for programs.',
          maxLength: statusLimits.errorReason,
          pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
        },
        message: string('What happened, to which object, and what to do next.', statusLimits.errorMessage),
      },
    },
    tookFieldsFrom: {
      type: 'array',
      description: 'Field managers whose fields a Patch took over. An undo gives them back.',
      maxItems: statusLimits.tookFieldsFrom,
      items: string('Name of a field manager.', statusLimits.fieldManager),
      'x-kubernetes-list-type': 'atomic',
    },
    drift: string(
      'Where the object, once written, differed from what the dry run had foretold, in a form for the engine only.',
      statusLimits.drift,
    ),
    waiting: string('What the undo of this change waits for, while it goes on with earlier changes.', statusLimits.note),
    disowned: flag('The field manager of this Transaction was taken off the object again.'),
    deleted: flag('The former object is deleted, and is created again by this change (whenImmutable) or by its undo.'),
    note: string('Something to know about this change that is no error.', statusLimits.note),
    gate: gateState,
  },
};
