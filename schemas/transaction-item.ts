// The status of one change, and the limits of texts in a status (transaction-status.ts has the reason for the limits).
import type { Schema } from './schema.ts';

/** The longest texts and lists that a status may hold. */
export const statusLimits = {
  message: 32_768,
  errorReason: 256,
  errorMessage: 4096,
  note: 4096,
  warnings: 3,
  warning: 200,
  fieldManager: 128,
  tookFieldsFrom: 64,
  drift: 16_384,
  target: 768,
  found: 256,
  logs: 4096,
  handledAnnotations: 16,
  handledAnnotationValue: 262_144,
} as const;

/** The engine derives it from the flags and the phase (docs/reference.md). It is for users and filters; the engine does not read it. */
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

// Not `format: date-time`: with it the API server also accepts an empty list as a string.
const timePattern = String.raw`^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(\.\d{1,9})?(Z|[+-][0-2]\d:[0-5]\d)$`;

export const time = (description: string): Schema => ({ type: 'string', description, maxLength: 35, pattern: timePattern });

export const string = (description: string, maxLength: number): Schema => ({ type: 'string', description, maxLength });

const gateState: Schema = {
  type: 'object',
  description: 'State of the gate of this change.',
  required: ['since'],
  properties: {
    since: time('Start of the wait.'),
    readySince: time('Time since which the object has been ready without interruption.'),
    passed: flag('The object was ready for long enough.'),
    found: string('The last observation of the object.', statusLimits.found),
    pod: {
      type: 'object',
      description: 'A Pod of the new revision with a container that does not start, or why the engine cannot list Pods.',
      required: ['found'],
      properties: {
        found: string('The Pod, its node, the container and the reason, as they were first seen.', statusLimits.found),
        uid: string('UID of the Pod.', 128),
        failure: {
          type: 'string',
          description: 'Image: its image cannot be pulled. Container: it cannot be created or run, or it ends again and again.',
          enum: ['Image', 'Container'],
        },
        since: time('Time since which every list of Pods has shown it.'),
      },
    },
    logs: string('The last lines of the container that the error names, if keepLogs is set.', statusLimits.logs),
  },
};

export const item: Schema = {
  type: 'object',
  description: 'State of one change.',
  properties: {
    target: string(
      'Kind and name of the object, with its namespace if it differs from that of the Transaction. A long name is cut.',
      statusLimits.target,
    ),
    state: {
      type: 'string',
      description:
        'Waiting (nothing stored), Prepared, Applying (may have been sent), Applied, Failed (refused), Restoring (the next of a rollback), Restored, NotRestored (see error), Kept (left on request) or Skipped (never applied).',
      enum: itemStates,
    },
    lockLease: string('Name of the Lease, in the namespace of the engine, that locks the target.', 253),
    prepared: flag('The prior state of the target is stored.'),
    announced: flag('The engine may have sent the write. It sends no write that it has not announced.'),
    committed: flag('The change was applied.'),
    rolledBack: flag('The change is undone, or was never applied.'),
    left: flag('The engine could not undo the change; error has the reason.'),
    kept: flag('The undo left the change, because tx.janus.io/undo-keep names it; note has the reason.'),
    overwrite: flag('The undo overwrites content of other clients, because tx.janus.io/undo-overwrite names the object.'),
    uid: string('UID of the object that the change has created, or that the undo of a Delete has created again.', 128),
    resourceVersion: string('Version of the object after the change, or at its deletion.', 64),
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
        message: string('The failure, the object, and the next step for the user.', statusLimits.errorMessage),
      },
    },
    tookFieldsFrom: {
      type: 'array',
      description: 'Field managers whose fields a Patch took over. An undo gives them back.',
      maxItems: statusLimits.tookFieldsFrom,
      items: string('Name of a field manager.', statusLimits.fieldManager),
      'x-kubernetes-list-type': 'atomic',
    },
    took: {
      type: 'object',
      description: 'The fields that an Apply or a Patch took from other field managers, with the values that it replaced.',
      required: ['count'],
      properties: {
        count: { type: 'integer', description: 'Number of fields.', minimum: 1 },
        texts: {
          type: 'array',
          description:
            'The first fields, each with its former value and field manager. Only field managers for a Secret, an object outside the namespace of the Transaction, and content from a Secret.',
          maxItems: statusLimits.warnings,
          items: string('Field, value and field manager.', statusLimits.warning),
          'x-kubernetes-list-type': 'atomic',
        },
      },
    },
    drift: string(
      'Differences between the written object and the result of the dry run, in a form for the engine only.',
      statusLimits.drift,
    ),
    waiting: string(
      'The condition that the undo of this change waits for. The undo continues with earlier changes.',
      statusLimits.note,
    ),
    disowned: flag('The engine has removed the field manager of this Transaction from the object.'),
    unchanged: flag('The change changed no field of the content: at most who owns fields, and marks of the engine.'),
    undone: flag('The undo has written the object back, created it again or deleted it.'),
    deleted: flag('The former object is deleted. This change (whenImmutable) or its undo creates it again.'),
    note: string('Information about this change that is not an error.', statusLimits.note),
    warnings: {
      type: 'object',
      description:
        'Warnings of the API server about the write of this change, or of its undo, such as a deprecated kind or Pod security.',
      required: ['count'],
      properties: {
        count: { type: 'integer', description: 'Number of warnings.', minimum: 1 },
        texts: {
          type: 'array',
          description:
            'The first warnings, each cut. Absent for a Secret, an object outside the namespace of the Transaction, and content from a Secret, or if the status has no room.',
          maxItems: statusLimits.warnings,
          items: string('Text of the warning.', statusLimits.warning),
          'x-kubernetes-list-type': 'atomic',
        },
      },
    },
    gate: gateState,
  },
};
