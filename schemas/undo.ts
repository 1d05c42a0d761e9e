// What the undo does with what others wrote.
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
          'Where others wrote into an object that the Transaction created: Keep (default) leaves the object, and the undo ends as Failed; Delete deletes it with what they wrote.',
        enum: ['Keep', 'Delete'],
      },
      foreignContentManagers: {
        type: 'array',
        description:
          'With Delete: only what these field managers wrote is deleted with its object. Left out, whatever others wrote is.',
        minItems: 1,
        maxItems: mostFilledBy,
        items: { type: 'string', description: 'Name of a field manager.', minLength: 1, maxLength: 128 },
        'x-kubernetes-list-type': 'atomic',
      },
    },
  };
}
