// The schema of `status.plan`: the result of a package transaction with `spec.dryRun`.
import type { Schema } from '../schema.ts';
import { string } from '../transaction-item.ts';

const operation: Schema = {
  type: 'string',
  description:
    'HandOver: another revision controls the object. Release: no revision controls it any more. Keep: it stays without owners. None: the package is installed again as it is.',
  enum: ['Delete', 'Release', 'Keep', 'HandOver', 'Update', 'Create', 'None'],
};

const longestName = 253;
const longestSource = 512;

const plannedPackage: Schema = {
  type: 'object',
  description: 'A package that is installed, updated or deleted.',
  required: ['operation', 'kind', 'name', 'source'],
  properties: {
    operation,
    kind: string('Provider, Configuration or Function.', longestName),
    name: string('Name of the package object.', longestName),
    source: string('Registry and repository.', longestSource),
    from: string('Its version in the Lock.', longestSource),
    to: string('Its version in the Lock after the change.', longestSource),
    replacedBy: string('Registry and repository of the package that takes its place.', longestSource),
    requiredBy: {
      type: 'array',
      description: 'The packages that require it after the change.',
      maxItems: 20,
      items: {
        type: 'object',
        description: 'A package, and the versions that it requires.',
        required: ['package', 'constraints'],
        properties: {
          package: string('Registry and repository.', longestSource),
          constraints: string('A range of versions, or a digest.', 256),
        },
      },
      'x-kubernetes-list-type': 'atomic',
    },
  },
};

const plannedObject: Schema = {
  type: 'object',
  description: 'A revision, or an object of a package, that is changed.',
  required: ['operation', 'apiVersion', 'kind', 'name'],
  properties: {
    operation,
    apiVersion: string('Its apiVersion.', longestSource),
    kind: string('Its kind.', longestName),
    name: string('Its name.', longestName),
    from: string('The revision that controls it; of a revision, its state.', longestName),
    to: string('The revision that controls it after the change; of a revision, its state.', longestName),
  },
};

export const packagePlan: Schema = {
  type: 'object',
  description: 'What a dry run has found: the changes that the package transaction would make without spec.dryRun.',
  required: ['packages', 'objects', 'unchanged', 'unlisted'],
  properties: {
    packages: {
      type: 'array',
      description: 'Packages, dependencies first.',
      maxItems: 500,
      items: plannedPackage,
      'x-kubernetes-list-type': 'atomic',
    },
    objects: {
      type: 'array',
      description: 'Revisions and objects of packages, deletions first.',
      maxItems: 2_000,
      items: plannedObject,
      'x-kubernetes-list-type': 'atomic',
    },
    unchanged: { type: 'integer', description: 'Number of objects that stay as they are.', minimum: 0 },
    unlisted: { type: 'integer', description: 'Number of packages and objects without room in the lists.', minimum: 0 },
  },
};
