// docs/reasons.md names every reason that the code can give, and none that it cannot.
//
// A reason is a CamelCase text in the sources. Other such texts (kinds of objects, types of changes, values of the API) are
// listed here; so no new one comes in without a decision.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { readSources } from './support/sources.ts';

const kinds =
  'Events Pod Pods ReplicaSet ReplicationController StatefulSet DaemonSet Deployment StorageClass ConfigMap CustomResourceDefinition Endpoints Event Job Lease Namespace PersistentVolume PersistentVolumeClaim Role ClusterRole Binding RoleBinding ClusterRoleBinding User Group Secret Service ServiceAccount Status Transaction';
const values =
  'Create Update Patch Delete Apply Force Fail Recreate KeepScaled Set True False Normal Warning Succeeded Namespaced Error Bound Released Complete Retain ExternalName OnDelete Equal Established Webhook';
/** Of a change; Prepared and Failed are reasons too. */
const states = 'Waiting Applying Applied Restoring Restored NotRestored Kept Skipped';
/** What an undo does with a change. */
const verdicts = 'Restore Nothing Keep Blocked Undecided';
/** Places of gates, and operators of selectors. */
const places = 'AfterChange AtEnd Never In NotIn Exists DoesNotExist';
/** Why a container does not start. */
const failures = 'Image Container';
/** Types of conditions. */
const conditions = 'Finished Ready Stalled';
/** Codes of errors in Node, causes of the API server. */
const foreign =
  'FieldValueNotFound FieldValueRequired FieldValueDuplicate FieldValueInvalid FieldValueNotSupported FieldValueForbidden FieldValueTooLong FieldValueTooMany FieldValueTypeInvalid TimeoutError FieldManagerConflict HorizontalPodAutoscaler ScaledObject Flux Helm Controller Kustomization HelmRelease InvariantError Transactions ConfigMaps';

const noReasons = new Set(
  [kinds, values, states, verdicts, places, failures, conditions, foreign].flatMap((words) => words.split(' ')),
);

/**
 * Where failures get their names: the engine (packages have theirs in docs/packages.md; rules of gates repeat those of conditions), and what the API server reports.
 */
const sources = [
  ...readSources('hooks').filter(({ path }) => !/^hooks\/(crossplane|transactions\/gates)\//.test(path)),
  ...readSources('server/kubernetes').filter(({ path }) => /\/(failures|transport|apply-refusals)\.ts$/.test(path)),
];

/** Texts and keys of tables such as `Preparing: 'LocksAcquired'`; no types. */
const words = new Map(
  sources.flatMap(({ path, text }) =>
    [...text.matchAll(/'([A-Z][a-z]+(?:[A-Z][a-z]+)*)'/g)].map(([, word = '']) => [word, path]),
  ),
);

interface Row {
  readonly reason: string;
  readonly meaning: string;
  readonly next: string;
}

const rows: readonly Row[] = [
  ...readFileSync(new URL('../docs/reasons.md', import.meta.url), 'utf8').matchAll(/^\| `(\w+)` +\| (.*?) +\| (.*?) +\|$/gm),
].map(([, reason = '', meaning = '', next = '']) => ({ reason, meaning, next }));

const documented = rows.map(({ reason }) => reason);

t.test('docs/reasons.md', async (t) => {
  t.ok(rows.length > 50, 'its tables are found');

  await t.test('has every reason of the code', async (t) => {
    const missing = [...words].filter(([word]) => !noReasons.has(word) && !documented.includes(word));
    t.same(missing, [], 'a new reason needs a document entry, and a word that is no reason needs an entry in this test');
  });

  await t.test('has no reason that the code does not give', async (t) => {
    t.same(
      documented.filter((reason) => !words.has(reason)),
      [],
    );
    t.same(
      documented.filter((reason) => noReasons.has(reason)),
      [],
      'nor one that is said here to be none',
    );
  });

  await t.test('has each once, with one sentence of what it means and one of what to do', async (t) => {
    t.same(
      documented.filter((reason, index) => documented.indexOf(reason) !== index),
      [],
    );
    for (const { reason, meaning, next } of rows) {
      t.match(meaning, /^[A-Z].*\.$/, `${reason}: what it means`);
      t.match(next, /^[A-Z].*\.$/, `${reason}: what to do next`);
    }
  });

  await t.test('and the words that are no reasons are all in use', async (t) => {
    t.same(
      [...noReasons].filter((word) => !sources.some(({ text }) => text.includes(word))),
      [],
    );
  });
});
