// Contents from ConfigMaps and Secrets: who decides what is written, and what it may cost.
import type { Sabotage } from '../sabotage.ts';

export const sources: readonly Sabotage[] = [
  {
    name: 'source-digest-ignored',
    fault: 'who may write a ConfigMap chooses what the ServiceAccount writes: the digest of a source does not count',
    edits: [
      {
        file: 'hooks/observe/sources.ts',
        find: 'one.source.digest !== digest) return',
        replace: "digest === '') return",
      },
    ],
    caughtBy: ['test/scenarios/manifests/bad-sources.test.ts'],
  },
  {
    name: 'source-secret-in-the-clear',
    fault: 'what comes from a Secret is readable in the snapshot, and quoted in messages, unless the target is a Secret',
    edits: [
      {
        file: 'hooks/model/entry.ts',
        find: 'return isFromSecret(changes[index]);',
        replace: 'return isFromSecret(undefined) && index === changes.length;',
      },
    ],
    caughtBy: ['test/hooks/snapshots/codec.test.ts', 'test/threats/source-canary.test.ts'],
  },
  {
    name: 'source-keys-told',
    fault: 'keys of what comes from a Secret are repeated as field names',
    edits: [
      {
        file: 'hooks/checks/refusal.ts',
        find: 'isFromSecret(change) ? [prior]',
        replace: 'isFromSecret(undefined) ? [prior]',
      },
    ],
    caughtBy: ['test/threats/source-canary.test.ts'],
  },
  {
    name: 'source-unbounded',
    fault: 'a gzip bomb is unpacked, however large it becomes',
    edits: [{ file: 'server/manifests/reading.ts', find: '{ maxOutputLength: most }', replace: '{}' }],
    caughtBy: ['test/server/manifests/manifests.test.ts'],
  },
];
