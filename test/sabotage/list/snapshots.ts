// What is stored before the first change, and what becomes of secrets.
import type { Sabotage } from '../sabotage.ts';

const model = ['test/hooks/snapshots/codec.test.ts'];

export const storage: readonly Sabotage[] = [
  {
    name: 'no-snapshot',
    fault: 'nothing is stored before the first change',
    edits: [
      {
        file: 'hooks/plan/plan.ts',
        find: 'return storePlan(step, transaction, storing);',
        replace: "return storePlan(step, transaction, storing).kind === 'refused' ? { kind: 'nothing' } : { kind: 'nothing' };",
      },
    ],
    caughtBy: ['test/scenarios/changes/readme-example.test.ts'],
  },
  {
    name: 'snapshot-unacknowledged',
    fault: 'a snapshot counts as stored although its write failed',
    edits: [
      {
        file: 'hooks/outcome/result.ts',
        find: '  if (failure === undefined) {\n    const writes = plan.kind',
        replace: "  if (failure === undefined || failure.kind === 'transient') {\n    const writes = plan.kind",
      },
    ],
    caughtBy: [
      'test/hooks/outcome/result.test.ts',
      'test/scenarios/changes/refused-writes.test.ts',
      'test/faults/faults.test.ts',
    ],
  },
  {
    name: 'secrets-unsealed',
    fault: 'prior states of Secrets are readable in the snapshot',
    edits: [
      {
        file: 'hooks/model/entry.ts',
        find: 'if (isSecret(target) || target',
        replace: 'if (target',
      },
    ],
    caughtBy: model,
  },
  {
    name: 'other-namespaces-unsealed',
    fault: 'prior states of objects in other namespaces are readable in the snapshot',
    edits: [
      {
        file: 'hooks/model/entry.ts',
        find: ' || target.namespace !== namespace) return true;',
        replace: " || namespace === '') return true;",
      },
    ],
    caughtBy: model,
  },
  {
    name: 'secrets-quoted',
    fault: 'messages quote what the API server says of a Secret',
    edits: [
      {
        file: 'hooks/checks/failures.ts',
        find: "if (!isSecret && message !== '')",
        replace: "if (message !== '')",
      },
    ],
    caughtBy: ['test/scenarios/snapshots/secrets.test.ts'],
  },
  {
    name: 'forged-snapshot-adopted',
    fault: 'an object under the name of a snapshot is adopted, whoever stored it',
    edits: [
      {
        file: 'hooks/snapshots/objects.ts',
        find: 'return packer.isTagged(digest, read(headAnnotations.tag), headContext(transaction, base, parts))',
        replace: "return packer.tag(digest, headContext(transaction, base, parts)) !== ''",
      },
    ],
    caughtBy: [...model, 'test/threats/replayed-snapshots.test.ts'],
  },
  {
    name: 'tries-mixed',
    fault: 'parts of several tries are adopted as one snapshot',
    edits: [
      {
        file: 'hooks/observe/own-snapshots.ts',
        find: 'if (digest === undefined || digestOf(data) !== digest) return undefined;',
        replace: "if (digest === undefined || digestOf(data) === '') return undefined;",
      },
    ],
    caughtBy: ['test/threats/replayed-snapshots.test.ts'],
  },
  {
    name: 'tags-unchecked',
    fault: 'readable entries are trusted without their tag',
    edits: [
      {
        file: 'hooks/snapshots/codec.ts',
        find: "if (form === '' || !packer.isTagged(stored, tag, contextOf(form, place))) return undefined;",
        replace: "if (form === '' || contextOf(form, place) === tag) return undefined;",
      },
    ],
    caughtBy: [...model, 'test/threats/tampering.test.ts'],
  },
  {
    name: 'untagged-believed',
    fault: 'entries without a tag are trusted for every Transaction',
    edits: [
      {
        file: 'hooks/snapshots/untagged.ts',
        find: 'return createdAt < packer.taggedSince();',
        replace: 'return createdAt < Number.POSITIVE_INFINITY || packer.taggedSince() === 0;',
      },
    ],
    caughtBy: [...model, 'test/threats/tampering.test.ts', 'test/scenarios/snapshots/untagged.test.ts'],
  },
  {
    name: 'untagged-plural',
    fault: 'an entry without a tag chooses the plural that is written to',
    edits: [
      {
        file: 'hooks/observe/entries.ts',
        find: 'entry: { ...decoded.entry, resource } };',
        replace: 'entry: { ...decoded.entry, resource: { ...resource, ...decoded.entry.resource } } };',
      },
    ],
    caughtBy: ['test/scenarios/snapshots/untagged.test.ts'],
  },
  {
    name: 'names-to-guess',
    fault: 'the name of a snapshot can be guessed',
    edits: [
      {
        file: 'server/kubernetes/sealer.ts',
        find: "return createHmac('sha256', key).update(text)",
        replace: "return createHmac('sha256', key.subarray(0, 0)).update(text)",
      },
    ],
    caughtBy: model,
  },
  {
    name: 'claims-of-any-size',
    fault: 'the list of ConfigMaps with our label is as large as others make it',
    edits: [
      {
        file: 'hooks/observe/own-snapshots.ts',
        find: 'limit: mostListed, mostBytes };',
        replace: 'limit: mostListed };',
      },
    ],
    caughtBy: ['test/threats/large-claims.test.ts'],
  },
  {
    name: 'claims-all-at-once',
    fault: 'a deletion takes in all ConfigMaps with names of its snapshot at once',
    edits: [
      {
        file: 'hooks/observe/own-snapshots.ts',
        find: 'if (objects.length === mostWhole)',
        replace: 'if (objects.length === mostListed)',
      },
    ],
    caughtBy: ['test/threats/large-claims.test.ts'],
  },
  {
    name: 'more-claims-forgotten',
    fault: 'a deletion ends after the first few ConfigMaps of its snapshot',
    edits: [{ file: 'hooks/outcome/ends.ts', find: 'return isGoingOn || isMoved ?', replace: 'return isMoved ?' }],
    caughtBy: ['test/threats/large-claims.test.ts'],
  },
  {
    name: 'label-is-enough',
    fault: 'a ConfigMap with our label is deleted with the Transaction',
    edits: [
      {
        file: 'hooks/observe/own-snapshots.ts',
        find: 'const isOurs = (object: JsonObject): boolean => isSnapshotOf(object, transaction, packer, rollbackRef);',
        replace:
          "const isOurs = (object: JsonObject): boolean => isSnapshotOf(object, transaction, packer, rollbackRef) || textAt(object, 'kind') !== '';",
      },
    ],
    caughtBy: ['test/threats/confused-deputy.test.ts'],
  },
  {
    name: 'label-is-swept',
    fault: 'the finalizer is removed from every object with our label',
    edits: [
      {
        file: 'hooks/sweep.ts',
        find: 'const isOurs = (item: JsonObject): boolean => isSnapshotOf(item, claimed(item), packer);',
        replace:
          "const isOurs = (item: JsonObject): boolean => isSnapshotOf(item, claimed(item), packer) || claimed(item).uid !== '';",
      },
    ],
    caughtBy: ['test/threats/confused-deputy.test.ts'],
  },
  {
    name: 'parts-unbounded',
    fault: 'as many parts are read as somebody announces',
    edits: [
      {
        file: 'hooks/snapshots/objects.ts',
        find: 'return Number.isInteger(count) && count >= 1 && count <= mostParts;',
        replace: 'return Number.isInteger(count) && count >= 1 && count !== mostParts + 1_000;',
      },
    ],
    caughtBy: ['test/threats/tampering.test.ts'],
  },
  {
    name: 'expanded-without-end',
    fault: 'stored text may expand to any size',
    edits: [
      {
        file: 'server/kubernetes/sealer.ts',
        find: 'brotliDecompressSync(packed, { maxOutputLength: most })',
        replace: 'brotliDecompressSync(packed)',
      },
    ],
    caughtBy: ['test/server/kubernetes/sealer.test.ts', ...model],
  },
  {
    name: 'nested-without-end',
    fault: 'an entry may be nested to any depth',
    edits: [
      {
        file: 'hooks/snapshots/codec.ts',
        find: 'return isDeeperThan(value, mostEntryLevels) ? undefined : value;',
        replace: 'return isDeeperThan(value, mostEntryLevels * 1_000) ? undefined : value;',
      },
    ],
    caughtBy: model,
  },
  {
    name: 'thrown-is-fatal',
    fault: 'a step that throws prevents the deadline and the deletion',
    edits: [
      {
        file: 'hooks/sync.ts',
        find: 'const recovered = (thrown: unknown): CompletedStep => recoveredStep(serving, stand, thrown);',
        replace:
          'const recovered = (thrown: unknown): CompletedStep => {\n    if (stand.now > 0) throw thrown;\n    return recoveredStep(serving, stand, thrown);\n  };',
      },
    ],
    caughtBy: ['test/threats/engine-faults.test.ts'],
  },
  {
    name: 'thrown-outside-is-fatal',
    fault: 'code that throws outside of a step prevents the answer of the call, and the deletion of the Transaction',
    edits: [
      {
        file: 'hooks/sync.ts',
        find: '.catch((thrown) => rescued(serving, call, thrown))',
        replace: '.catch((thrown) => (calls > 0 ? Promise.reject(thrown) : rescued(serving, call, thrown)))',
      },
    ],
    caughtBy: ['test/threats/engine-faults.test.ts'],
  },
  {
    name: 'memory-uncounted',
    fault: 'what a call reads has no bound',
    edits: [
      {
        file: 'hooks/observe/room.ts',
        find: 'if (call + bytes > limits.call) return tooLarge(',
        replace: 'if (call + bytes > limits.call * 1000) return tooLarge(',
      },
    ],
    caughtBy: ['test/hooks/observe/room.test.ts'],
  },
  {
    name: 'states-uncounted',
    fault: 'the states of a Transaction may take any amount of memory',
    edits: [
      {
        file: 'hooks/snapshots/size.ts',
        find: 'memory <= mostMemory) return undefined;',
        replace: 'memory >= 0) return undefined;',
      },
    ],
    caughtBy: ['test/threats/memory.test.ts'],
  },
  {
    name: 'drift-believed',
    fault: 'a stored drift is trusted without its tag',
    edits: [
      {
        file: 'hooks/snapshots/drift.ts',
        find: "if (whole !== '') return context.packer.isTagged(text, tag, contextOf('drift', place)) ? text : undefined;",
        replace: "if (whole !== '') return contextOf('drift', place) === tag ? undefined : text;",
      },
    ],
    caughtBy: ['test/threats/tampering.test.ts'],
  },
  {
    name: 'digest-unchecked',
    fault: 'a second or an edited snapshot is restored from',
    edits: [
      {
        file: 'hooks/observe/snapshot.ts',
        find: 'if (digestOf(data) !== ref.digest) return',
        replace: "if (digestOf(data) === '') return",
      },
    ],
    caughtBy: ['test/threats/tampering.test.ts'],
  },
  {
    name: 'entry-of-another',
    fault: 'an entry of another object or change is restored from',
    edits: [
      {
        file: 'hooks/snapshots/codec.ts',
        find: 'identityOf(stored) !== identityOf(target)) return undefined;',
        replace: 'identityOf(stored) === "") return undefined;',
      },
    ],
    caughtBy: model,
  },
  {
    name: 'seal-anywhere',
    fault: 'an entry of one change is trusted for another',
    edits: [
      {
        file: 'hooks/snapshots/codec.ts',
        find: 'return JSON.stringify([use, uid, base, changes.length, index, type, identityOf(target), serviceAccountName]);',
        replace:
          'return JSON.stringify([use, uid.length, base.length, changes.length > 0, index < 0, type.length, target.kind, serviceAccountName]);',
      },
    ],
    caughtBy: model,
  },
  {
    name: 'snapshot-unprotected',
    fault: 'the snapshot has no finalizer: a foreground deletion removes it first',
    edits: [{ file: 'hooks/snapshots/objects.ts', find: 'finalizers: [snapshotFinalizer],', replace: '' }],
    caughtBy: ['test/hooks/snapshots/codec.test.ts', 'test/scenarios/lifecycle/deletion.test.ts'],
  },
];
