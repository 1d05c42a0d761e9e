// How the undo handles content of other clients.
import type { Schema } from './schema.ts';
import { mostFilledBy } from './spec-values.ts';

export function undo(description: string): Schema {
  return {
    type: 'object',
    description,
    properties: {
      foreignContent: {
        type: 'string',
        description:
          'If other clients wrote into an object that the Transaction created: Keep (default) leaves the object, and the undo ends as Failed. Delete deletes the object with their content.',
        enum: ['Keep', 'Delete'],
      },
      foreignContentManagers: {
        type: 'array',
        description:
          'With Delete: only content of these field managers is deleted with its object. If it is left out, content of all field managers is.',
        minItems: 1,
        maxItems: mostFilledBy,
        items: { type: 'string', description: 'Name of a field manager.', minLength: 1, maxLength: 128 },
        'x-kubernetes-list-type': 'atomic',
      },
    },
  };
}
