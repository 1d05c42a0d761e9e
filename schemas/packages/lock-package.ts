// One entry of the Lock, in `locks.pkg.crossplane.io` and in the status of a package transaction.
import type { Schema } from '../schema.ts';

const text = (description: string): Schema => ({ type: 'string', description });

const type: Schema = {
  type: 'string',
  description: 'Deprecated by Crossplane in favour of apiVersion and kind.',
  enum: ['Configuration', 'Provider', 'Function'],
};

const dependency: Schema = {
  type: 'object',
  description: 'A package that this package requires.',
  required: ['package', 'constraints'],
  properties: {
    package: text('Its source.'),
    apiVersion: text('The apiVersion of its package object.'),
    kind: text('The kind of its package object.'),
    type,
    constraints: text('A range of versions, or a digest sha256:….'),
  },
};

export const lockPackage: Schema = {
  type: 'object',
  description: 'An installed package.',
  required: ['name', 'source', 'version', 'dependencies'],
  properties: {
    name: text('The name of its revision.'),
    apiVersion: text('The apiVersion of its package object.'),
    kind: text('The kind of its package object.'),
    type,
    source: text('Registry and repository, without tag or digest.'),
    version: text('tag@sha256:…, a tag, or a digest.'),
    dependencies: { type: 'array', description: 'The packages that it requires.', items: dependency },
  },
};
