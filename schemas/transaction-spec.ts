// What a user may write in `spec` of a Transaction. No rules in CEL here: the API server would evaluate them at every update of
// the status (creation-rules.ts has them).
import { change } from './change.ts';
import { duration, text } from './fields.ts';
import { gateTimes } from './gate.ts';
import type { Schema } from './schema.ts';
import { patterns } from './spec-values.ts';
import { undo } from './undo.ts';

export const mostChanges = 500;

export const transactionSpec: Schema = {
  type: 'object',
  description: 'What is to be done. Cannot be changed afterwards.',
  required: ['serviceAccountName', 'changes'],
  properties: {
    serviceAccountName: text({
      description:
        "Name of a ServiceAccount in the Transaction's namespace. Every read and write of a target is done as it, with its permissions.",
      pattern: patterns.serviceAccountName,
      maxLength: 253,
    }),
    changes: {
      type: 'array',
      description:
        'The changes, applied in this order, one by one. Should one fail, those before it are undone in reverse order. Others see the changes as they happen: there is no isolation.',
      minItems: 1,
      maxItems: mostChanges,
      items: change,
      'x-kubernetes-list-type': 'atomic',
    },
    fieldManager: text({
      description:
        'Field manager under which each Apply writes: one for all releases of the same manifests, so that what a release no longer names is removed. Left out, each Apply writes under a manager of this Transaction.',
      pattern: patterns.fieldManager,
      maxLength: 128,
    }),
    gate: {
      type: 'object',
      description:
        'At the end all changed objects must be ready at once: a gate AtEnd for each change that has none, Deletes aside.',
      properties: gateTimes,
    },
    undo: undo('What the undo does with what others wrote.'),
    lockTimeout: duration(
      'lockTimeout',
      'How long a lock on a target lasts without being renewed; then another Transaction may take it.',
    ),
    lockWait: duration(
      'lockWait',
      'How long to wait for targets that other Transactions have locked; with 0s a held lock fails at once.',
    ),
    timeout: duration(
      'timeout',
      'How long the changes may take in all before they are undone, and how long the undo may take then.',
    ),
    ttlSecondsAfterFinished: {
      type: 'integer',
      description:
        'The Transaction deletes itself so many seconds after it has finished, and can no longer be undone then. While an undo has left something (Failed, an item with left: true), it stays: its snapshot may hold the only copy. Left out, it stays.',
      minimum: 0,
      maximum: 2147483647,
    },
  },
};
