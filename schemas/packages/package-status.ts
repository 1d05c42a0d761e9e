// What is reported in `status` of a package transaction. Texts are bounded; whoever writes one cuts it.
import type { Schema } from '../schema.ts';
import { string, time } from '../transaction-item.ts';
import { unobserved } from '../transaction-status.ts';
import { lockPackage } from './lock-package.ts';

/** What is under way. `Waiting`: for the Lock, or until the next try. */
const packagePhases = [
  'Waiting',
  'Validating',
  'Preparing',
  'Installing',
  'Verifying',
  'RollingBack',
  'Releasing',
  'Succeeded',
  'Failed',
] as const;

const packageStatusLimits = { message: 8_192, stages: 512, reason: 128 } as const;

const condition: Schema = {
  type: 'object',
  description: 'One aspect of the state, for kubectl wait and other tools.',
  required: ['type', 'status'],
  properties: {
    type: string('Validated, Installed, Ready, Synced or Finished.', 316),
    status: { type: 'string', description: 'True, False or Unknown.', enum: ['True', 'False', 'Unknown'] },
    reason: string('One CamelCase word for programs.', 1024),
    message: string('What this means here, and what to do next.', packageStatusLimits.message),
    lastTransitionTime: time('When status of this condition changed last.'),
    observedGeneration: { type: 'integer', description: 'Generation that this is about.', minimum: 0 },
  },
};

const stage: Schema = {
  type: 'object',
  description: 'A Transaction of the engine that makes a part of the change.',
  required: ['name', 'purpose'],
  properties: {
    name: string('Name of the Transaction, and of the ConfigMap with its contents.', 253),
    purpose: {
      type: 'string',
      description: 'What it makes.',
      enum: ['Packages', 'Revisions', 'Objects', 'Releases', 'Activation'],
    },
    digest: string('SHA-256 of its contents. Others than these are refused.', 71),
  },
};

export const packageStatus: Schema = {
  type: 'object',
  description: 'How far it is. Never falls behind what is stored (see version).',
  default: unobserved,
  properties: {
    conditions: {
      type: 'array',
      description: 'Validated, Installed, Ready, Synced, Finished.',
      maxItems: 16,
      items: condition,
      'x-kubernetes-list-type': 'atomic',
    },
    failures: { type: 'integer', description: 'Tries that failed.', minimum: 0, maximum: 1_000_000 },
    transactionNumber: { type: 'integer', description: 'Taken with the Lock, kept over tries.', minimum: 1 },
    proposedLockPackages: {
      type: 'array',
      description: 'The whole Lock after this change, every tag with its digest.',
      items: lockPackage,
      'x-kubernetes-list-type': 'atomic',
    },
    startTime: time('When it got the Lock first.'),
    completionTime: time('When it succeeded, or failed for good.'),
    observedGeneration: {
      type: 'integer',
      description: 'Generation of this status; set by Metacontroller. -1 before the first call of the engine.',
      minimum: unobserved.observedGeneration,
    },
    phase: { type: 'string', description: 'What is under way.', enum: packagePhases },
    version: {
      type: 'integer',
      description: 'Grows with every progress. A status with a lower version is refused.',
      minimum: 1,
      maximum: 2_147_483_647,
    },
    specDigest: string('SHA-256 of spec as it was when this began.', 71),
    lockDigest: string('SHA-256 of Lock.packages as they were when this try was resolved.', 71),
    tryTime: time('When this try began.'),
    retryTime: time('When the next try begins.'),
    settledTime: time('Until then a request for the holder of the Lock that is gone may still take effect.'),
    settledHolder: string('SHA-256 of the holder of the Lock that was found gone, and of which settledTime is.', 71),
    sweepTime: time('Of one that is finished: when its stages and their contents are deleted. Absent once they are.'),
    stages: {
      type: 'array',
      description: 'The stages of this try, in order.',
      maxItems: packageStatusLimits.stages,
      items: stage,
      'x-kubernetes-list-type': 'atomic',
    },
    made: { type: 'integer', description: 'Stages of this try whose creation was answered.', minimum: 0 },
    committed: { type: 'integer', description: 'Stages of this try that are Committed.', minimum: 0 },
    progress: string('Stages committed of all, such as 2/5.', 32),
    outcome: {
      type: 'object',
      description: 'Why this try ends.',
      required: ['kind'],
      properties: {
        kind: { type: 'string', description: 'How it ends.', enum: ['Succeeded', 'Failed', 'Abandoned'] },
        step: { type: 'string', description: 'What failed.', enum: ['Validation', 'Installation', 'Rollback'] },
        reason: string('The reason of the condition.', packageStatusLimits.reason),
        message: string('In words.', packageStatusLimits.message),
        retryAfterSeconds: { type: 'integer', description: 'The wish of a registry.', minimum: 0 },
        isFinal: { type: 'boolean', description: 'Another try could not help.' },
      },
    },
  },
};
