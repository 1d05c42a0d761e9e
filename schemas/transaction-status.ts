// The schema of `status` of a Transaction. Lengths have limits, because the version rule compares the whole status, and the API server
// estimates the cost of the rule from the limits. The engine cuts each text of a status to its limit: the API server would refuse a longer
// status at every attempt.
import { rollbackSet } from './rollback.ts';
import type { Schema } from './schema.ts';
import { item, statusLimits, string, time } from './transaction-item.ts';
import { mostChanges } from './transaction-spec.ts';
import { undoAnswer } from './transaction-undo.ts';

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

const condition: Schema = {
  type: 'object',
  description: 'One aspect of the state, for kubectl wait and other tools.',
  required: ['type', 'status'],
  properties: {
    type: string('Finished, Succeeded, Prepared, Committed, RolledBack, Ready, Reconciling or Stalled.', 316),
    status: { type: 'string', description: 'True, False or Unknown.', enum: ['True', 'False', 'Unknown'] },
    reason: string('One CamelCase word for programs.', 1024),
    message: string(
      'The meaning of the condition, the object, the reason, and the next step for the user.',
      statusLimits.message,
    ),
    lastTransitionTime: time('Time of the last change of status of this condition.'),
    observedGeneration: {
      type: 'integer',
      description: 'Generation of the Transaction that this condition describes.',
      minimum: 0,
    },
  },
};

/** The status of an object that no controller has handled yet. No object has this generation. */
export const unobserved = { observedGeneration: -1 } as const;

export const transactionStatus: Schema = {
  type: 'object',
  description: 'State of the Transaction. The engine writes it. A stored status is never replaced by an older one (see version).',
  // kstatus (Flux, Helm, kapp) regards an object without conditions as ready, unless its status has another generation.
  default: unobserved,
  properties: {
    phase: {
      type: 'string',
      description:
        'Pending, Preparing, Prepared, Committing or RollingBack. At the end Committed (all changes are applied), RolledBack (none is applied), or Failed (see message).',
      enum: phases,
    },
    version: {
      type: 'integer',
      description: 'Grows by one with each change of phase or items. The API server refuses a status with a lower version.',
      minimum: 1,
      maximum: 2147483647,
    },
    items: {
      type: 'array',
      description: 'One entry for each change, in the order of spec.changes.',
      maxItems: mostChanges,
      items: item,
      'x-kubernetes-list-type': 'atomic',
    },
    rollbackRef: {
      type: 'object',
      description: 'The ConfigMaps that store the prior states of the targets.',
      required: ['name', 'digest', 'objects'],
      properties: {
        name: string('Name of the first ConfigMap; the others have -1, -2, … after it.', 253),
        digest: string('SHA-256 of all ConfigMaps. The engine refuses other content.', 128),
        objects: { type: 'integer', description: 'Number of ConfigMaps.', minimum: 1, maximum: 10_000 },
      },
    },
    specDigest: string('SHA-256 of spec at the start of the Transaction.', 128),
    startTime: time('Start of the Transaction.'),
    completionTime: time('End of the Transaction.'),
    duration: string('From startTime to completionTime, such as 12s; set at the end.', 32),
    current: string('Target of the change that the engine applies or undoes, or whose gate is open.', statusLimits.target),
    waitingUntil: time('Time at which the last open gate times out; absent if no gate is open.'),
    rollbackStartedAt: time('Start of the undo.'),
    settledWriter: string('Engine process and turn whose requests are all answered, in a form for the engine only.', 128),
    unsettledAt: time('Time at which another process replaced one that may have left a request unanswered.'),
    rollbackObservedAt: time('Time at which the engine first read the stored undo, if a request may have been in flight.'),
    locksReturnedAt: time(
      'Time at which a requested undo that waits for reads last gave its locks back; it takes them again later.',
    ),
    undo: undoAnswer,
    rollback: rollbackSet,
    message: string('The present step, or the result, for users.', statusLimits.message),
    progress: string('Changes that are done, and all changes, such as 3/5.', 32),
    handledAnnotations: {
      type: 'object',
      description:
        'The values of request annotations that have taken effect. Each value takes effect once. ‹removed› means that the annotation was removed: then the value may take effect again.',
      maxProperties: statusLimits.handledAnnotations,
      additionalProperties: string('Value of the annotation.', statusLimits.handledAnnotationValue),
    },
    conditions: {
      type: 'array',
      description:
        'Finished, Succeeded, Prepared, Committed, RolledBack; Ready, Reconciling, Stalled as kstatus knows them; UndoRefused if the engine has refused the last undo.',
      maxItems: 32,
      items: condition,
      // Not a map by type, unlike most conditions, because one writer writes all of them. With a map the API server keeps the owner of each
      // field, which takes a quarter of the time of a status update.
      'x-kubernetes-list-type': 'atomic',
    },
    observedGeneration: {
      type: 'integer',
      description: 'Generation that this status describes; Metacontroller sets it. -1 before the first call of the engine.',
      minimum: unobserved.observedGeneration,
    },
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.phase) == has(self.version)',
      message: 'phase and version come together: report both, so that the version guards the phase',
    },
  ],
};
