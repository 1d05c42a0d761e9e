// Promises 18 to 21: gates, manifests, sources and packages; and the memory of a call.
import type { Sabotage } from '../sabotage.ts';

export const features: readonly Sabotage[] = [
  {
    name: 'evidence-ignored',
    fault: 'a status that may be about the state before the change counts at once',
    edits: [
      { file: 'hooks/transactions/gates/readiness.ts', find: '|| seen.age >= withoutEvidence)', replace: '|| seen.age >= 0)' },
    ],
    caughtBy: ['test/hooks/transactions/gates/readiness.test.ts'],
  },
  {
    name: 'ready-one-by-one',
    fault: 'at the end each gate passes by itself, not all of them at one look',
    edits: [
      {
        file: 'hooks/transactions/decide/gates.ts',
        find: 'return gates.every(({ isOver }) => isOver) ?',
        replace: 'return gates.some(({ isOver }) => isOver) ?',
      },
    ],
    caughtBy: ['test/scenarios/gates/gates.test.ts'],
  },
  {
    name: 'announced-behind-gate',
    fault: 'changes behind an open gate are announced',
    edits: [
      {
        file: 'hooks/transactions/decide/window.ts',
        find: 'return Math.min(end, firstBarred(gating, items));',
        replace: 'return end;',
      },
    ],
    caughtBy: ['test/scenarios/gates/gates.test.ts'],
  },
  {
    name: 'old-pods-fail',
    fault: 'a Pod of the revision before the change makes its gate fail early',
    edits: [
      {
        file: 'hooks/transactions/gates/new-pods.ts',
        find: 'created > begun - storedResolution',
        replace: 'created > 0',
      },
    ],
    caughtBy: ['test/hooks/transactions/gates/new-pods.test.ts', 'test/scenarios/gates/fail-fast.test.ts'],
  },
  {
    name: 'apply-creates-or-changes',
    fault: 'an Apply that creates changes what somebody has created meanwhile',
    edits: [
      {
        file: 'server/kubernetes/requests.ts',
        find: "if (precondition === 'absent') return withPath(object, ['metadata', 'resourceVersion'], noVersion);",
        replace: "if (precondition === 'absent') return object;",
      },
    ],
    caughtBy: ['test/scenarios/changes/create-only.test.ts', 'test/scenarios/manifests/strangers.test.ts'],
  },
  {
    name: 'mark-is-enough',
    fault: 'an object with our annotation and the content of somebody else counts as ours',
    edits: [{ file: 'hooks/transactions/attribution/apply.ts', find: '&& unlikeOurs(evidence).length === 0', replace: '' }],
    caughtBy: ['test/scenarios/manifests/strangers.test.ts'],
  },
  {
    name: 'conflicts-forced',
    fault: 'fieldConflicts: Fail takes fields of others over',
    edits: [
      {
        file: 'hooks/transactions/writes/change.ts',
        find: "return fieldConflicts === 'Fail' ? { failOnConflict: true } : {};",
        replace: "return fieldConflicts === 'never' ? { failOnConflict: true } : {};",
      },
    ],
    caughtBy: ['test/scenarios/manifests/field-conflicts.test.ts'],
  },
  {
    name: 'source-digest-ignored',
    fault: 'who may write a ConfigMap chooses what the ServiceAccount writes: the digest of a source does not count',
    edits: [
      {
        file: 'hooks/transactions/observe/sources.ts',
        find: 'one.source.digest !== digest) return',
        replace: "digest === '') return",
      },
    ],
    caughtBy: ['test/scenarios/manifests/bad-sources.test.ts'],
  },
  {
    name: 'package-digest-unverified',
    fault: 'content of a registry is not checked against its digest',
    edits: [
      {
        file: 'server/registry/cache.ts',
        find: 'if (found !== digest) throw invalid(`expected content',
        replace: "if (found === '') throw invalid(`expected content",
      },
    ],
    caughtBy: ['test/packages/registry/hostile.test.ts'],
  },
  {
    name: 'ptx-lock-edit-unseen',
    fault: 'packages of the Lock that somebody edits are written over',
    edits: [
      {
        file: 'hooks/crossplane/model/holder.ts',
        find: '&& packagesDigest(lock) === ptx.status.lockDigest',
        replace: '&& packagesDigest(lock) !== ptx.name',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-last-owner',
    fault: 'a package transaction goes while an installed object has no other owner',
    edits: [
      {
        file: 'hooks/crossplane/decide/ending.ts',
        find: 'if (isDeleting && orphans.length > 0)',
        replace: 'if (isDeleting && orphans.length < 0)',
      },
    ],
    caughtBy: ['test/packages/living.test.ts'],
  },
  {
    name: 'memory-uncounted',
    fault: 'what a call reads has no bound',
    edits: [
      {
        file: 'hooks/transactions/reading/memory-budget.ts',
        find: 'if (call + bytes > bounds.call) return tooLarge(',
        replace: 'if (call + bytes > bounds.call * 1000) return tooLarge(',
      },
    ],
    caughtBy: ['test/hooks/transactions/reading/memory-budget.test.ts'],
  },
];
