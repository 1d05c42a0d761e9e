// What the engine reports in `status` of a Transaction. Lengths are bounded because the version rule compares all of it,
// and the API server reckons the cost of that from the bounds: whoever writes a text into status cuts it to them, since a
// status that is refused for its length is refused for ever.
import type { Schema } from './schema.ts';
import { mostChanges } from './transaction-spec.ts';

export const phases = [
  'Pending',
  'Preparing',
  'Prepared',
  'Committing',
  'Committed',
  'RollingBack',
  'RolledBack',
  'Failed',
] as const;

/** The longest texts and lists that a status may hold. */
const statusLimits = {
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
  'Skipped',
] as const;

const flag = (description: string): Schema => ({ type: 'boolean', description });

// Not `format: date-time`: with it the API server also lets an empty list pass for a string.
const timePattern = String.raw`^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(\.\d{1,9})?(Z|[+-][0-2]\d:[0-5]\d)$`;

const time = (description: string): Schema => ({ type: 'string', description, maxLength: 35, pattern: timePattern });

const string = (description: string, maxLength: number): Schema => ({ type: 'string', description, maxLength });

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
        'Waiting (nothing stored), Prepared, Applying (may have been sent), Applied, Failed (refused), Restoring (the next of a rollback), Restored, NotRestored (see error) or Skipped (not applied).',
      enum: itemStates,
    },
    lockLease: string('Name of the Lease, in the namespace of the engine, that locks the target.', 253),
    prepared: flag('The prior state of the target is stored.'),
    announced: flag('Its write may have been sent: nothing is attempted that was not announced.'),
    committed: flag('The change was applied.'),
    rolledBack: flag('The change is undone, or was found not to be applied.'),
    left: flag('The change could not be undone; error says why.'),
    uid: string('UID of the object that a Create made, or that the undo of a Delete has created again.', 128),
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
    note: string('Something to know about this change that is no error.', statusLimits.note),
    gate: {
      type: 'object',
      description: 'How far the gate of this change is.',
      required: ['since'],
      properties: {
        since: time('Since when it is waited for.'),
        readySince: time('Since when the object has been ready without a break.'),
        passed: flag('The object was ready for long enough.'),
        found: string('What was found last.', statusLimits.found),
      },
    },
  },
};

const condition: Schema = {
  type: 'object',
  description: 'One aspect of the state, for kubectl wait and other tools.',
  required: ['type', 'status'],
  properties: {
    type: string('Finished, Succeeded, Prepared, Committed, RolledBack, Ready, Reconciling or Stalled.', 316),
    status: { type: 'string', description: 'True, False or Unknown.', enum: ['True', 'False', 'Unknown'] },
    reason: string('One CamelCase word for programs.', 1024),
    message: string('What this means here, which object it is about, why, and what to do next.', statusLimits.message),
    lastTransitionTime: time('When status of this condition changed last.'),
    observedGeneration: { type: 'integer', description: 'Generation of the Transaction that this is about.', minimum: 0 },
  },
};

export const transactionStatus: Schema = {
  type: 'object',
  description: 'How far the Transaction is. Written by the engine; never falls behind what is stored (see version).',
  properties: {
    phase: {
      type: 'string',
      description:
        'Pending, Preparing, Prepared, Committing, RollingBack; at rest Committed (all changes applied), RolledBack (none), or Failed (see message).',
      enum: phases,
    },
    version: {
      type: 'integer',
      description: 'Grows by one with each change of phase or items. A status with a lower version is refused.',
      minimum: 1,
      maximum: 2147483647,
    },
    items: {
      type: 'array',
      description: 'One entry for each change, in the same order.',
      maxItems: mostChanges,
      items: item,
      'x-kubernetes-list-type': 'atomic',
    },
    rollbackRef: {
      type: 'object',
      description: 'Where the prior states of the targets are stored.',
      required: ['name', 'digest', 'objects'],
      properties: {
        name: string('Name of the first ConfigMap; the others have -1, -2, … after it.', 253),
        digest: string('SHA-256 of all of them. Others than these are refused.', 128),
        objects: { type: 'integer', description: 'Number of ConfigMaps.', minimum: 1, maximum: 10_000 },
      },
    },
    specDigest: string('SHA-256 of spec as it was when the Transaction began.', 128),
    startTime: time('When the Transaction began.'),
    completionTime: time('When it ended.'),
    duration: string('From startTime to completionTime, such as 12s; set at the end.', 32),
    current: string('The change that is being applied or undone: its target.', statusLimits.target),
    startedAt: time('The same as startTime, which is new.'),
    completedAt: time('The same as completionTime, which is new.'),
    rollbackStartedAt: time('When the undo began.'),
    settledWriter: string('The engine process and turn whose requests are all answered, in a form for the engine only.', 128),
    unsettledAt: time('When a process was replaced that may have left a request unanswered.'),
    rollbackObservedAt: time('When the undo was first found stored, where a request may have been under way.'),
    message: string('What is going on, or how it ended, in words.', statusLimits.message),
    progress: string('Changes done of all, such as 3/5.', 32),
    handledAnnotations: {
      type: 'object',
      description: 'The values of request annotations that have taken effect; each value does so once.',
      maxProperties: statusLimits.handledAnnotations,
      additionalProperties: string('Value of the annotation.', statusLimits.handledAnnotationValue),
    },
    conditions: {
      type: 'array',
      description: 'Finished, Succeeded, Prepared, Committed, RolledBack, and Ready, Reconciling, Stalled as kstatus knows them.',
      maxItems: 32,
      items: condition,
      // Not a map by type, as conditions mostly are: one writer writes them all, and that the API server keeps the owner of each
      // field of each takes it as long as a quarter of a status update.
      'x-kubernetes-list-type': 'atomic',
    },
    observedGeneration: {
      type: 'integer',
      description: 'Generation that this status is about; set by Metacontroller.',
      minimum: 0,
    },
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.phase) == has(self.version)',
      message: 'phase and version come together: report both, so that the version guards the phase',
    },
  ],
};
