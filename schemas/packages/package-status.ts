// The schema of `status` of a package transaction. Texts have limits, and the hook cuts each text to its limit.
import type { Schema } from '../schema.ts';
import { string, time } from '../transaction-item.ts';
import { unobserved } from '../transaction-status.ts';
import { lockPackage } from './lock-package.ts';
import { packagePlan } from './package-plan.ts';

/** The phases of a package transaction that is not at its end. `Waiting`: for the Lock, or for the next attempt. */
const packagePhases = [
  'Waiting',
  'Validating',
  'Preparing',
  'Installing',
  'Verifying',
  'Deleting',
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
    message: string('The meaning of the condition, and the next step for the user.', packageStatusLimits.message),
    lastTransitionTime: time('Time of the last change of status of this condition.'),
    observedGeneration: { type: 'integer', description: 'Generation that this condition describes.', minimum: 0 },
  },
};

const stage: Schema = {
  type: 'object',
  description: 'A Transaction of the engine that makes one part of the change.',
  required: ['name', 'purpose'],
  properties: {
    name: string('Name of the Transaction, and of the ConfigMap with its contents.', 253),
    purpose: {
      type: 'string',
      description: 'The part of the change that it makes.',
      enum: ['Packages', 'Revisions', 'Pauses', 'Objects', 'Releases', 'Activation', 'Deactivation'],
    },
    digest: string('SHA-256 of its contents. The hook refuses other contents.', 71),
  },
};

export const packageStatus: Schema = {
  type: 'object',
  description: 'State of the package transaction. A stored status is never replaced by an older one (see version).',
  default: unobserved,
  properties: {
    conditions: {
      type: 'array',
      description: 'Validated, Installed, Ready, Synced, Finished.',
      maxItems: 16,
      items: condition,
      'x-kubernetes-list-type': 'atomic',
    },
    failures: { type: 'integer', description: 'Number of failed attempts.', minimum: 0, maximum: 1_000_000 },
    transactionNumber: {
      type: 'integer',
      description: 'Number that it got with the Lock, and keeps over all attempts.',
      minimum: 1,
    },
    proposedLockPackages: {
      type: 'array',
      description: 'The whole Lock after this change, every tag with its digest.',
      items: lockPackage,
      'x-kubernetes-list-type': 'atomic',
    },
    startTime: time('Time at which it first got the Lock.'),
    completionTime: time('Time at which it succeeded, or failed for good.'),
    observedGeneration: {
      type: 'integer',
      description: 'Generation of this status; Metacontroller sets it. -1 before the first call of the engine.',
      minimum: unobserved.observedGeneration,
    },
    phase: { type: 'string', description: 'The present phase.', enum: packagePhases },
    version: {
      type: 'integer',
      description: 'Grows with every progress. The API server refuses a status with a lower version.',
      minimum: 1,
      maximum: 2_147_483_647,
    },
    specDigest: string('SHA-256 of spec at the start.', 71),
    lockDigest: string('SHA-256 of Lock.packages at the resolution of this attempt.', 71),
    tryTime: time('Start of this attempt.'),
    retryTime: time('Start of the next attempt.'),
    deletionTime: time('Time of the first deletion. From then on a Delete or a Replace only goes forward.'),
    leavingUids: {
      type: 'array',
      description:
        'Uids of the package objects and revisions that leave, as they were before the first deletion. The hook deletes no others.',
      items: string('A uid.', 64),
      'x-kubernetes-list-type': 'atomic',
    },
    stoppedTime: time('Of a Replace beside Crossplane: time at which the Deployments of what leaves were deleted.'),
    gapSeconds: {
      type: 'integer',
      description: 'Of a Replace beside Crossplane: for how long no provider has reconciled the resources.',
      minimum: 0,
    },
    settledTime: time('Until this time a request of the deleted holder of the Lock may still take effect.'),
    settledHolder: string('SHA-256 of the deleted holder of the Lock that settledTime belongs to.', 71),
    sweepTime: time('Time at which the stages of a finished transaction, and their contents, are deleted. Absent afterwards.'),
    handOverTime: time('Time at which Crossplane got revisions in advance, to write the authority of their webhooks.'),
    handOverFault: string(
      'Why Crossplane does not run a revision yet, although the Lock is written. The engine tries it again.',
      packageStatusLimits.message,
    ),
    lostValues: string(
      'Instances that lose values in dropped fields, because the user has allowed it.',
      packageStatusLimits.message,
    ),
    stages: {
      type: 'array',
      description: 'The stages of this attempt, in order.',
      maxItems: packageStatusLimits.stages,
      items: stage,
      'x-kubernetes-list-type': 'atomic',
    },
    made: { type: 'integer', description: 'Stages of this attempt whose creation was answered.', minimum: 0 },
    committed: { type: 'integer', description: 'Stages of this attempt that are Committed.', minimum: 0 },
    progress: string('Committed stages, and all stages, such as 2/5.', 32),
    plan: packagePlan,
    replaced: {
      type: 'array',
      description: 'Of a Replace: the packages that leave, each with the package that takes its place.',
      items: {
        type: 'object',
        description: 'Two packages, by registry and repository.',
        required: ['source', 'by'],
        properties: { source: string('The package that leaves.', 512), by: string('The package that takes its place.', 512) },
      },
      'x-kubernetes-list-type': 'atomic',
    },
    outcome: {
      type: 'object',
      description: 'Why this attempt ends.',
      required: ['kind'],
      properties: {
        kind: { type: 'string', description: 'The result of the attempt.', enum: ['Succeeded', 'Failed', 'Abandoned'] },
        step: {
          type: 'string',
          description: 'The step that failed.',
          enum: ['Validation', 'Installation', 'Rollback', 'Deletion'],
        },
        reason: string('The reason of the condition.', packageStatusLimits.reason),
        message: string('In words.', packageStatusLimits.message),
        retryAfterSeconds: { type: 'integer', description: 'The delay that a registry requested.', minimum: 0 },
        isFinal: { type: 'boolean', description: 'Whether another attempt cannot succeed.' },
      },
    },
  },
};
