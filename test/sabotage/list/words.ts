// Words of others: what they must not control, how long they may be, and whose values they must not reveal.
import type { Sabotage } from '../sabotage.ts';

const wordsTest = ['test/threats/words.test.ts'];
const storable = ['test/manifests/storable.test.ts'];

export const words: readonly Sabotage[] = [
  {
    name: 'answer-reason-stored',
    fault: 'the reason of an answer becomes the reason in the status',
    edits: [{ file: 'hooks/model/reason.ts', find: 'if (isOwn(reason)) return reason;', replace: 'return reason as Reason;' }],
    caughtBy: storable,
  },
  {
    name: 'answer-reason-free',
    fault: 'a reason that the API server does not have is used unchanged',
    edits: [
      {
        file: 'server/kubernetes/failures.ts',
        find: 'const reason = isApiReason(given) ? given : reasonOfCode(answer.code);',
        replace: 'const reason = (given as ApiReason) || reasonOfCode(answer.code);',
      },
    ],
    caughtBy: ['test/server/kubernetes/failures.test.ts'],
  },
  {
    name: 'denial-taken-for-change',
    fault: 'a denial by a webhook with 409 counts as a write of somebody else',
    edits: [{ file: 'hooks/observe/trial.ts', find: 'length === tries)', replace: 'length > mostReads)' }],
    caughtBy: wordsTest,
  },
  {
    name: 'conflicts-of-any-write',
    fault: 'a webhook that denies a write can say that others own its fields',
    edits: [
      {
        file: 'server/kubernetes/cluster.ts',
        find: "(intent.verb === 'apply' && intent.failOnConflict === true)",
        replace: 'intent.verb !== undefined',
      },
    ],
    caughtBy: wordsTest,
  },
  {
    name: 'owner-of-secret-fields',
    fault: 'whom a webhook names as the owner of fields of a Secret is named in the status',
    edits: [
      { file: 'hooks/checks/failures.ts', find: '(isSecret && !managers.has(owner) ?', replace: '(isSecret && owner === "" ?' },
    ],
    caughtBy: wordsTest,
  },
  {
    name: 'odd-characters-passed-on',
    fault: 'messages contain line breaks and invisible characters',
    edits: [
      {
        file: 'hooks/model/words.ts',
        find: 'if (harmless.test(text)) return text;',
        replace: 'if (text.length >= 0) return text;',
      },
    ],
    caughtBy: ['test/server/kubernetes/failures.test.ts'],
  },
  {
    name: 'status-message-unbounded',
    fault: 'a message is stored at any length',
    edits: [
      {
        file: 'hooks/outcome/bounded.ts',
        find: 'message: foreign(status.message, longest.message),',
        replace: 'message: status.message,',
      },
    ],
    caughtBy: ['test/hooks/outcome/status.test.ts', ...storable],
  },
  {
    name: 'status-too-large',
    fault: 'the errors of many changes together exceed the size of a stored object',
    edits: [
      {
        file: 'hooks/outcome/bounded.ts',
        find: 'while (most > 1 && sizeOf(fitting) > room) {',
        replace: 'while (most > 1 && sizeOf(fitting) < 0) {',
      },
    ],
    caughtBy: storable,
  },
  {
    name: 'stored-size-of-text',
    fault: 'characters that take six bytes when stored count as one',
    edits: [{ file: 'hooks/model/words.ts', find: 'Buffer.byteLength(json) + 5 *', replace: 'Buffer.byteLength(json) + 0 *' }],
    caughtBy: storable,
  },
  {
    name: 'label-of-any-reason',
    fault: 'any stored reason becomes a label of a metric',
    edits: [{ file: 'hooks/model/reason.ts', find: 'return known.has(reason) ? reason : other;', replace: 'return reason;' }],
    caughtBy: ['test/server/telemetry/inventory.test.ts'],
  },
  {
    name: 'sealed-keys-told',
    fault: 'paths into sealed objects name members of sets and keys of list items',
    edits: [
      {
        file: 'hooks/attribution/attribute.ts',
        find: 'const describeOne = isSealed ? describeSealedPath : describePath;',
        replace: 'const describeOne = isSealed ? describePath : describeSealedPath;',
      },
    ],
    caughtBy: ['test/hooks/attribution/sealed-paths.test.ts', 'test/threats/list-canaries.test.ts'],
  },
  {
    name: 'sealed-fields-told',
    fault: 'messages name the fields that a webhook refuses, for Secrets too',
    edits: [
      {
        file: 'hooks/checks/failures.ts',
        find: 'isSecret ? [...new Set(fields.flatMap((field) => plainPath(field, known)))] : fields',
        replace: 'isSecret && known === undefined ? [] : fields',
      },
    ],
    caughtBy: wordsTest,
  },
];
