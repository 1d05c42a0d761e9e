// The schema of `spec` of a Transaction. It has no rules in CEL, because the API server would evaluate them at every update of the status
// (creation-rules.ts has them).
import { change } from './change.ts';
import { duration, text } from './fields.ts';
import { commonGate } from './gate.ts';
import { rollback } from './rollback.ts';
import type { Schema } from './schema.ts';
import { patterns } from './spec-values.ts';
import { undo } from './undo.ts';

export const mostChanges = 500;

export const transactionSpec: Schema = {
  type: 'object',
  description: 'The changes to make. spec is immutable.',
  required: ['serviceAccountName'],
  oneOf: [{ required: ['changes'] }, { required: ['rollback'] }],
  properties: {
    serviceAccountName: text({
      description:
        "Name of a ServiceAccount in the Transaction's namespace. The engine reads and writes every target as this ServiceAccount, with its permissions.",
      pattern: patterns.serviceAccountName,
      maxLength: 253,
    }),
    changes: {
      type: 'array',
      description:
        'The changes. The engine applies them in this order, one by one unless they have a wave. If a change fails, the engine undoes the earlier changes in reverse order. There is no isolation: other clients see each change when it is made.',
      minItems: 1,
      maxItems: mostChanges,
      items: change,
      'x-kubernetes-list-type': 'atomic',
    },
    rollback,
    fieldManager: text({
      description:
        'Field manager of each Apply. If all releases of an application share one field manager, a field that a release no longer names is removed. If it is left out, each Transaction has its own field manager.',
      pattern: patterns.fieldManager,
      maxLength: 128,
    }),
    takeOver: {
      type: 'array',
      description:
        'Names of other apps, by their fieldManager, whose objects an Apply may take over. Without it the engine refuses an object that another app has applied. Each of them must have applied one of the objects.',
      minItems: 1,
      maxItems: 16,
      items: { type: 'string', description: 'Field manager of the app.', minLength: 1, maxLength: 128 },
      'x-kubernetes-list-type': 'atomic',
    },
    gate: {
      type: 'object',
      description:
        'At the end all changed objects must be ready at once. Each change without a gate, except Delete, gets a gate AtEnd.',
      properties: commonGate,
    },
    undo: undo('How the undo handles content of other clients.'),
    lockTimeout: duration(
      'lockTimeout',
      'How long a lock on a target lasts if it is not renewed. After this time another Transaction may take it if the holder is gone, has ended, or has announced no change. Otherwise the lock is held until the engine serves the holder.',
    ),
    lockWait: duration(
      'lockWait',
      'How long to wait for targets that other Transactions have locked. With 0s the Transaction fails at once if a lock is held.',
    ),
    timeout: duration(
      'timeout',
      'Time limit for all changes; after it the engine undoes them. The undo has an equal time limit.',
    ),
    ttlSecondsAfterFinished: {
      type: 'integer',
      description:
        'Seconds after which a finished Transaction is deleted. It can no longer be undone then. If an undo has left an object (Failed, an item with left: true), the Transaction stays, because its snapshot may hold the only copy. If the field is left out, the Transaction stays.',
      minimum: 0,
      maximum: 2147483647,
    },
  },
};
