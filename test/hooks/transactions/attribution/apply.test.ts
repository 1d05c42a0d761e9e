// Before the engine sends a change: live object x type of the change -> sent, done already, or a conflict with its paths.
import t from 'tap';
import { describePath } from '../../../../hooks/objects/content/path.ts';
import { type JsonObject, withPath } from '../../../../hooks/objects/json.ts';
import { type ApplyEvidence, type ApplyVerdict, evaluateApply } from '../../../../hooks/transactions/attribution/apply.ts';
import type { Change, Way } from '../../../../hooks/transactions/model/change.ts';
import { entryFor, liveObject, managers } from '../../../support/evaluated-objects.ts';
import { listed, table } from '../../../support/table.ts';

function evidenceOf(type: Way, live: string, content: Change['content'] = {}): ApplyEvidence {
  const target = { apiVersion: 'v1', kind: 'Widget', name: 'x' };
  return {
    entry: entryFor(type),
    live: liveObject(live, type),
    change: { type, target, content },
    uid: 't1',
    managers,
    drift: [],
    recorded: false,
    isSealed: false,
    driftRoom: 10_000,
  };
}

/** `send`, `done`, what is to be stored first, or the reason of a conflict with its paths. */
function told(verdict: ApplyVerdict): string {
  if (verdict.kind === 'recordDrift') return ['recordDrift', ...verdict.drift.map(({ path }) => describePath(path))].join(' ');
  if (verdict.kind !== 'conflict') return verdict.kind;
  const paths = [...verdict.message.matchAll(/([\w.[\]="/]+) \(by [^)]*\)/g)].map(([, path]) => path);
  return [verdict.reason, ...paths].join(' ');
}

const rows = table<'found' | 'Update' | 'Patch' | 'Delete'>(`
found                       | Update                                   | Patch                    | Delete
before                      | send                                     | send                     | send
before, resourceVersion moved | send                                   | send                     | send
before, generation moved    | send                                     | send                     | send
before, status moved        | send                                     | send                     | send
before, managedFields moved | send                                     | send                     | send
before, annotation written  | send                                     | send                     | recordDrift metadata.annotations.n
before, b edited            | Conflict spec.b                          | send                     | Conflict spec.b
before, field added         | Conflict spec.x                          | send                     | Conflict spec.x
before, item added          | Conflict spec.items[name=two]            | send                     | Conflict spec.items[name=two]
before, a edited            | Conflict spec.a                          | Conflict spec.a          | Conflict spec.a
before, a removed           | Conflict spec.a                          | Conflict spec.a          | Conflict spec.a
before, a made 2            | Conflict spec.a                          | Conflict spec.a          | Conflict spec.a
before, a and c made ours   | done                                     | Conflict spec.a spec.c   | Conflict spec.a spec.c
before, label edited        | Conflict metadata.labels.l               | send                     | Conflict metadata.labels.l
before, finalizer added     | send                                     | send                     | Conflict metadata.finalizers["f/new"]
before, finalizer removed   | send                                     | send                     | Conflict metadata.finalizers["f/old"]
before, owner added         | send                                     | send                     | Conflict metadata.ownerReferences[uid=o1]
before, a stamped           | send                                     | send                     | send
before, being deleted       | Terminating                              | Terminating              | done
before, being deleted, b edited | Conflict spec.b                      | Terminating              | done
before, another uid         | Replaced                                 | Replaced                 | Replaced
gone                        | Gone                                     | Gone                     | done
after                       | done                                     | done                     | Conflict spec.a spec.c
after, status moved         | done                                     | done                     | Conflict spec.a spec.c
after, b edited             | done                                     | done                     | Conflict spec.a spec.b spec.c
after, unmarked             | done                                     | Conflict spec.a spec.c   | Conflict spec.a spec.c
after, a edited             | Conflict spec.a spec.c                   | Conflict spec.a spec.c  | Conflict spec.a spec.c
after, a stamped            | done                                     | done                     | Conflict spec.c
after, a shared             | done                                     | done                     | Conflict spec.a spec.c
`);

for (const { found, ...verdicts } of rows) {
  for (const type of ['Update', 'Patch', 'Delete'] as const) {
    t.test(`${type}, found ${found}: ${verdicts[type]}`, async (t) => {
      const evidence = evidenceOf(type, found);
      const verdict = evaluateApply(evidence);
      t.equal(told(verdict), verdicts[type]);
      const metadata = evidence.live?.metadata as { readonly uid: string; readonly resourceVersion: string } | undefined;
      const { uid, resourceVersion } = metadata ?? {};
      if (verdict.kind === 'send') t.same(verdict.precondition, { uid, resourceVersion }, 'judged against what was found');
    });
  }
}

const creations = table<'found' | 'verdict'>(`
found                             | verdict
gone                              | send
after                             | done
after, b edited                   | done
after, a edited                   | done
after, marked by annotation       | done
after, marked as being restored   | done
after, being deleted              | done
after, unmarked                   | AlreadyExists
after, marked by another          | AlreadyExists
before                            | AlreadyExists
`);

for (const { found, verdict } of creations) {
  t.test(`Create, found ${found}: ${verdict}`, async (t) => {
    const judged = evaluateApply(evidenceOf('Create', found));
    t.equal(told(judged), verdict);
    if (judged.kind === 'send') t.equal(judged.precondition, undefined, 'absence is the precondition');
  });
}

const versions = table<'reason' | 'wanted' | 'found' | 'verdict'>(`
reason                             | wanted | found                         | verdict
the version that content requires  | 7      | before                        | send
another one                        | 6      | before                        | ResourceVersion
only status has moved since        | 7      | before, resourceVersion moved | ResourceVersion
our own write has moved it         | 7      | after, resourceVersion moved  | done
`);

for (const { reason, wanted, found, verdict } of versions) {
  t.test(`an Update with a resourceVersion of its own: ${reason}`, async (t) => {
    const content = withPath({}, ['metadata', 'resourceVersion'], wanted);
    t.equal(told(evaluateApply(evidenceOf('Update', found, content))), verdict);
  });
}

t.test('an Update that names finalizers or owners, be it none, is in conflict with whoever changes them', async (t) => {
  const named = (live: string, metadata: JsonObject): string => told(evaluateApply(evidenceOf('Update', live, { metadata })));
  t.equal(named('before, finalizer added', { finalizers: [] }), 'Conflict metadata.finalizers["f/new"]');
  t.equal(named('before, finalizer removed', { finalizers: null }), 'Conflict metadata.finalizers["f/old"]');
  t.equal(named('before, finalizer added', { ownerReferences: [] }), 'send', 'one by one');
  t.equal(named('before, owner added', { ownerReferences: [] }), 'Conflict metadata.ownerReferences[uid=o1]');
  t.equal(named('before, owner added', { finalizers: [] }), 'send');
});

t.test('a change that changes nothing is done only when it has left our entry', async (t) => {
  const entry = { ...entryFor('Patch'), expected: entryFor('Patch').prior ?? {} };
  const found = (live: string): string => told(evaluateApply({ ...evidenceOf('Patch', live), entry }));
  t.equal(found('before'), 'send');
  t.equal(found('before, marked as being restored'), 'done');
});

t.test('a conflict names the object, the paths and their managers', async (t) => {
  const verdict = evaluateApply(evidenceOf('Patch', 'before, a edited'));
  t.match(verdict, { kind: 'conflict', message: /^Widget shop\/x .*: spec\.a \(by [\w, ]*other\)$/ });
  t.same(listed(told(verdict)), ['Conflict spec.a']);
});

t.test('a Patch that names a field that another writer has changed since', async (t) => {
  const named = (live: string, content: Change['content']): string => told(evaluateApply(evidenceOf('Patch', live, content)));
  t.equal(
    named('before, b edited', { spec: { b: 1 } }),
    'Conflict spec.b',
    'is in conflict, although it would have changed nothing',
  );
  t.equal(named('before, b edited', { spec: { a: 2 } }), 'send', 'one that does not name it is not');
});
