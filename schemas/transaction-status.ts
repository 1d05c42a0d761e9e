// What the engine reports in `status` of a Transaction. Lengths are bounded because the version rule compares all of it,
// and the API server reckons the cost of that from the bounds: whoever writes a text into status cuts it to them, since a
// status that is refused for its length is refused for ever.
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
    message: string('What this means here, which object it is about, why, and what to do next.', statusLimits.message),
    lastTransitionTime: time('When status of this condition changed last.'),
    observedGeneration: { type: 'integer', description: 'Generation of the Transaction that this is about.', minimum: 0 },
  },
};

/** The status of an object that no controller has looked at yet: of a generation that none has. */
export const unobserved = { observedGeneration: -1 } as const;

export const transactionStatus: Schema = {
  type: 'object',
  description: 'How far the Transaction is. Written by the engine; never falls behind what is stored (see version).',
  // kstatus (Flux, Helm, kapp) takes an object without conditions for ready, unless its status is of another generation.
  default: unobserved,
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
    current: string('The change that is being applied or undone, or whose gate is open: its target.', statusLimits.target),
    waitingUntil: time('Until when the open gates are waited for at the latest; absent while none is open.'),
    rollbackStartedAt: time('When the undo began.'),
    settledWriter: string('The engine process and turn whose requests are all answered, in a form for the engine only.', 128),
    unsettledAt: time('When a process was replaced that may have left a request unanswered.'),
    rollbackObservedAt: time('When the undo was first found stored, where a request may have been under way.'),
    undo: undoAnswer,
    message: string('What is going on, or how it ended, in words.', statusLimits.message),
    progress: string('Changes done of all, such as 3/5.', 32),
    handledAnnotations: {
      type: 'object',
      description:
        'The values of request annotations that have taken effect; each does so once. ‹removed› once the annotation is gone: then the same value may take effect again.',
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
      description: 'Generation that this status is about; set by Metacontroller. -1 before the first call of the engine.',
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
