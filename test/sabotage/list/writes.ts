// What is written, and with which preconditions.
import type { Sabotage } from '../sabotage.ts';

const requests = 'server/kubernetes/requests.ts';
const requestTests = ['test/server/kubernetes/requests.test.ts'];

export const writes: readonly Sabotage[] = [
  {
    name: 'update-unconditional',
    fault: 'an update is sent without uid and resourceVersion',
    edits: [{ file: requests, find: 'body: conditional(write.object, write.precondition)', replace: 'body: write.object' }],
    caughtBy: requestTests,
  },
  {
    name: 'update-without-uid',
    fault: 'an update is sent without uid: it would create a vanished object',
    edits: [
      {
        file: requests,
        find: "const withUid = withPath(object, ['metadata', 'uid'], precondition.uid);",
        replace: 'const withUid = object;',
      },
    ],
    caughtBy: requestTests,
  },
  {
    name: 'patch-unconditional',
    fault: 'a patch is sent without uid and resourceVersion',
    edits: [
      {
        file: requests,
        find: 'body: conditional(named(write.object, write.location), write.precondition)',
        replace: 'body: named(write.object, write.location)',
      },
    ],
    caughtBy: requestTests,
  },
  {
    name: 'delete-unconditional',
    fault: 'a delete is sent without preconditions',
    edits: [
      {
        file: requests,
        find: 'preconditions: { uid: precondition.uid, resourceVersion: precondition.resourceVersion },',
        replace: '',
      },
    ],
    caughtBy: requestTests,
  },
  {
    name: 'nobodys-credentials',
    fault: 'an empty token is sent: the request is that of system:anonymous, and is forbidden for good',
    edits: [
      {
        file: 'server/kubernetes/connection.ts',
        find: "if (credentials.headers.authorization?.trim() === 'Bearer') throw new Error(emptyToken);",
        replace: '',
      },
    ],
    caughtBy: ['test/server/kubernetes/connection.test.ts'],
  },
  {
    name: 'refusals-of-the-unready',
    fault: 'a refusal of an API server that starts is final: its caches are empty, and the rights are there',
    edits: [
      {
        file: 'server/kubernetes/unready.ts',
        find: 'if (!isRefusal(answer) || readiness.wasKnown(sentAt)) return answer;',
        replace: 'if (!isRefusal(answer) || !readiness.wasKnown(-1)) return answer;',
      },
    ],
    caughtBy: ['test/server/kubernetes/unready.test.ts'],
  },
  {
    name: 'apply-as-plain-json',
    fault: 'the body of an apply is JSON that YAML reads otherwise: breaks of lines in a text are folded',
    edits: [{ file: 'server/kubernetes/transport.ts', find: 'asYaml(JSON.stringify(body))', replace: 'JSON.stringify(body)' }],
    caughtBy: ['test/scenarios/changes/json-fidelity.test.ts'],
  },
  {
    name: 'delete-without-uid',
    fault: 'a delete names the version, but not the uid',
    edits: [{ file: requests, find: 'preconditions: { uid: precondition.uid, ', replace: 'preconditions: { ' }],
    caughtBy: requestTests,
  },
  {
    name: 'unframed-delete',
    fault: 'a request body is sent without its length: the API server ignores the preconditions of a delete',
    edits: [
      {
        file: 'server/kubernetes/transport.ts',
        find: 'body: body === undefined ? null : textOf(body)',
        replace: "body: body === undefined || method === 'DELETE' ? null : textOf(body)",
      },
    ],
    caughtBy: ['test/server/kubernetes/writes.test.ts'],
  },
  {
    name: 'name-from-content',
    fault: 'an object is written under the name that its content gives',
    edits: [{ file: requests, find: "return withPath(object, ['metadata', 'name'], location.name);", replace: 'return object;' }],
    caughtBy: requestTests,
  },
  {
    name: 'manager-without-uid',
    fault: 'the field manager lacks the uid of the Transaction',
    edits: [
      {
        file: 'hooks/model/transaction.ts',
        find: 'const uid = transaction.uid.slice(0, uidLength);',
        replace: "const uid = '';",
      },
    ],
    caughtBy: ['test/hooks/model/reference.test.ts'],
  },
  {
    name: 'impersonation-dropped',
    fault: 'targets are written with the rights of the engine',
    edits: [
      {
        file: 'hooks/writes/resources.ts',
        find: "return { kind: 'serviceAccount', namespace: transaction.namespace, name: transaction.serviceAccountName };",
        replace: 'return engine;',
      },
    ],
    caughtBy: ['test/hooks/writes/change.test.ts', 'test/scenarios/lifecycle/account.test.ts'],
  },
  {
    name: 'foreign-annotations-dropped',
    fault: 'an update drops the annotations that others have written since the snapshot',
    edits: [
      {
        file: 'hooks/writes/change.ts',
        find: "['annotations', annotations] as const",
        replace: "['annotations', ours] as const",
      },
    ],
    caughtBy: ['test/hooks/writes/change.test.ts'],
  },
  {
    name: 'update-drops-finalizers',
    fault: 'an update drops finalizers and owners that its content does not name',
    edits: [
      {
        file: 'hooks/writes/change.ts',
        find: "return type === 'Update' ? ['finalizers', 'ownerReferences'].filter((key) => !isNamed(key)) : [];",
        replace: 'return isNamed(type) ? [type] : [];',
      },
    ],
    caughtBy: [
      'test/hooks/writes/change.test.ts',
      'test/scenarios/changes/updates-and-finalizers.test.ts',
      'test/generated/round-trips.test.ts',
    ],
  },
  {
    name: 'named-finalizers-kept',
    fault: 'an update keeps finalizers where its content has a list of its own',
    edits: [
      {
        file: 'hooks/writes/change.ts',
        find: '.filter((key) => !isNamed(key))',
        replace: ".filter((key) => !isNamed(key) || key === 'finalizers')",
      },
    ],
    caughtBy: ['test/hooks/writes/change.test.ts', 'test/scenarios/changes/updates-and-finalizers.test.ts'],
  },
  {
    name: 'numbers-rounded',
    fault: 'integers above 2^53 are rounded',
    edits: [{ file: 'hooks/model/json.ts', find: 'JSON.rawJSON(context.source)', replace: 'value' }],
    caughtBy: ['test/hooks/model/json.test.ts'],
  },
  {
    name: 'durations-believed',
    fault: 'a duration outside its bounds is used unchanged if admission accepted it',
    edits: [{ file: 'hooks/checks/validity.ts', find: '...durationFaults(transaction), ', replace: '' }],
    caughtBy: ['test/hooks/checks/refused-again.test.ts'],
  },
  {
    name: 'same-target-twice',
    fault: 'one object may be changed twice in a Transaction',
    edits: [{ file: 'hooks/checks/targets.ts', find: 'first.set(identityOf(target), earlier ?? index);', replace: '' }],
    caughtBy: ['test/hooks/checks/targets.test.ts'],
  },
];
