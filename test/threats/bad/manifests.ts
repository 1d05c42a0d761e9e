// Plain manifests that are not one object, and members of a change where they mean nothing.
import fc from 'fast-check';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { label } from '../chance.ts';
import { type BadTransaction, changeWith, goodContent, invalid, type Parts, some, specWith } from './specs.ts';

const object = (metadata: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  ...more,
});

/** An Apply without a target. */
const applyOf = (content: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  content.map((one) => specWith([{ type: 'Apply', content: one }]));

const changeOf = (parts: fc.Arbitrary<Parts>): fc.Arbitrary<JsonObject> => parts.map((more) => specWith([changeWith(more)]));

const withManager = (name: fc.Arbitrary<string>): fc.Arbitrary<JsonObject> =>
  name.map((fieldManager) => specWith([changeWith({ type: 'Apply' })], { fieldManager }));

export const manifests: readonly BadTransaction[] = [
  {
    name: 'an Apply with generateName',
    spec: applyOf(label.map((generateName) => object({ generateName }))),
    end: invalid(/content\.metadata\.generateName: an Apply requires the name/),
  },
  {
    name: 'an Apply of a list',
    spec: applyOf(some('List', 'ConfigMapList').map((kind) => ({ apiVersion: 'v1', kind, items: [object({ name: 'a' })] }))),
    end: invalid(/content is a list of objects: write one change for each/),
  },
  {
    name: 'an Apply of several documents',
    spec: label.map((name) => specWith([changeWith({ type: 'Apply', content: `kind: ConfigMap\n---\nkind: ${name}\n` })])),
    end: invalid(/content must be an object/),
  },
  {
    name: 'an Apply without a name',
    spec: applyOf(some<JsonObject>({}, { labels: { a: 'b' } }).map((metadata) => object(metadata))),
    end: invalid(/content\.metadata\.name is missing: write a name/),
  },
  {
    name: 'an Apply without a kind',
    spec: applyOf(label.map((name) => ({ metadata: { name }, ...goodContent }))),
    end: invalid(/content\.apiVersion is missing: write a version.*content\.kind is missing: write the name of a kind/),
  },
  {
    name: 'an Apply without content',
    spec: fc.constant(specWith([changeWith({ type: 'Apply', content: undefined })])),
    admission: 'spec.changes[0].content: Required value',
    end: invalid(/content must be an object/),
  },
  {
    name: 'an Apply of a Transaction',
    spec: applyOf(label.map((name) => ({ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name } }))),
    end: ['Refused', /the kinds of tx\.janus\.io control Transactions/],
  },
  {
    name: 'content with the mark of a release',
    spec: applyOf(label.map((name) => object({ name, annotations: { 'tx.janus.io/applied-by': 'a/b/c' } }))),
    end: invalid(/applied-by"\] is set by the engine/),
  },
  {
    name: 'annotations that are no map',
    spec: applyOf(label.map((name) => object({ name, annotations: 'text' }))),
    end: invalid(/content\.metadata\.annotations is no map/),
  },
  {
    name: 'fieldConflicts where it means nothing',
    spec: changeOf(some('Create', 'Update', 'Delete').map((type) => ({ type, fieldConflicts: 'Fail' }))),
    end: invalid(/fieldConflicts: has no meaning for an? (Create|Update|Delete)/),
  },
  {
    name: 'whenImmutable where it means nothing',
    spec: changeOf(some('Create', 'Patch', 'Delete').map((type) => ({ type, whenImmutable: 'Recreate' }))),
    end: invalid(/whenImmutable: has no meaning for a (Create|Patch|Delete)/),
  },
  {
    name: 'undo where it means nothing',
    spec: changeOf(some('Patch', 'Delete').map((type) => ({ type, undo: { foreignContent: 'Delete' } }))),
    end: invalid(/undo: has no meaning for a (Patch|Delete)/),
  },
  {
    name: 'managers of an undo that keeps what others wrote',
    spec: changeOf(
      some({ foreignContent: 'Keep' }, {}).map((choice) => ({
        type: 'Create',
        undo: { ...choice, foreignContentManagers: ['a'] },
      })),
    ),
    end: invalid(/undo\.foreignContentManagers: has a meaning only with foreignContent: Delete/),
  },
  {
    name: 'a fieldManager of Transactions',
    spec: withManager(label.map((name) => `janus-${name}`)),
    admission: 'does not begin with janus',
    end: invalid(/spec\.fieldManager "janus-.* begins with janus/),
  },
  {
    name: 'a fieldManager of Kubernetes',
    spec: withManager(some('kube-controller-manager', 'ancient-changes')),
    end: invalid(/spec\.fieldManager ".*" is a manager of Kubernetes itself/),
  },
  {
    name: 'a fieldManager that is too long',
    spec: withManager(fc.integer({ min: 129, max: 200 }).map((length) => 'a'.repeat(length))),
    admission: 'spec.fieldManager: Too long',
    end: invalid(/spec\.fieldManager has \d+ characters, at most 128/),
  },
  {
    name: 'a takeOver of no other app',
    spec: some<JsonObject>({}, { fieldManager: 'shop' }).map((more) =>
      specWith([changeWith({ type: 'Apply' })], { ...more, takeOver: ['shop'] }),
    ),
    end: invalid(/spec\.takeOver (has no meaning without spec\.fieldManager|names spec\.fieldManager)/),
  },
];
