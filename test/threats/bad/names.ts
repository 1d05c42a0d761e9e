// Names, kinds, versions and namespaces that lead elsewhere or nowhere.
import fc from 'fast-check';
import { anyText, around, control, label } from '../chance.ts';
import { type BadTransaction, changeWith, invalid, ofTarget, type Parts, some, specWith } from './specs.ts';

const slash = some('/', '%', '%2f', '/../', '%2e%2e%2f');

export const names: readonly BadTransaction[] = [
  {
    name: 'unknown kind',
    spec: ofTarget(label.map((kind) => ({ kind: `X${kind}` }))),
    end: ['UnknownKind', /serves no kind X/],
  },
  {
    name: 'unknown group',
    spec: ofTarget(label.map((group) => ({ apiVersion: `${group}.example.org/v1` }))),
    end: ['UnknownKind', /serves no kind ConfigMap in/],
  },
  {
    name: 'apiVersion that leads elsewhere',
    spec: ofTarget(around(label, some('/../', '/..', '?', '#', '//', '\\', '%2f', ' ')).map((text) => ({ apiVersion: text }))),
    admission: 'write the version, after the group and a slash',
    end: invalid(/target\.apiVersion "/),
  },
  {
    name: 'kind that is a path or a subresource',
    spec: ofTarget(around(label, some('/', '/../', '/status', '.', '?', ' ')).map((kind) => ({ kind }))),
    admission: 'write the kind as in a manifest',
    end: invalid(/target\.kind "/),
  },
  {
    name: 'kind of a subresource',
    spec: ofTarget(
      some<Parts>(
        { apiVersion: 'autoscaling/v1', kind: 'Scale' },
        { apiVersion: 'policy/v1', kind: 'Eviction' },
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
      ),
    ),
    end: ['UnknownKind', /serves no kind/],
  },
  {
    name: 'empty name',
    spec: ofTarget(some({ name: '' })),
    admission: 'at least 1 chars',
    end: invalid(/target\.name is missing/),
  },
  {
    name: 'name beyond 253 characters',
    spec: ofTarget(fc.integer({ min: 254, max: 3_000 }).map((length) => ({ name: 'a'.repeat(length) }))),
    admission: 'Too long: may not be … than 253',
    end: invalid(/target\.name "a{60}"/),
  },
  {
    name: 'name with upper case',
    spec: ofTarget(label.map((name) => ({ name: `${name}-UP` }))),
    end: invalid(/was refused by a dry run: .*metadata\.name/),
  },
  {
    name: 'name of a directory above',
    spec: ofTarget(some({ name: '..' }, { name: '.' })),
    admission: "write the object's metadata.name",
    end: invalid(/target\.name "\.+"/),
  },
  {
    name: 'name with a slash or an escape',
    spec: ofTarget(around(label, slash).map((name) => ({ name }))),
    admission: "write the object's metadata.name",
    end: invalid(/target\.name "/),
  },
  {
    name: 'name with control characters',
    spec: ofTarget(around(label, control).map((name) => ({ name }))),
    admission: "write the object's metadata.name",
    end: invalid(/target\.name "/),
  },
  {
    name: 'namespace of a cluster-scoped kind',
    spec: ofTarget(
      label.map((namespace) => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', namespace: `x${namespace}` })),
    ),
    end: invalid(/is cluster-scoped: leave target\.namespace out/),
  },
  {
    name: 'namespace that is no name',
    spec: ofTarget(around(label, some('/', '.', ':', '..', 'A', '\r\n', '_')).map((namespace) => ({ namespace }))),
    admission: 'write a namespace name',
    end: invalid(/target\.namespace "/),
  },
  {
    name: 'an unknown type',
    spec: anyText.filter((type) => type.length > 6).map((type) => specWith([changeWith({ type })])),
    admission: 'supported values: "Create", "Update", "Patch", "Delete"',
    end: invalid(/type ".*" is none of Create, Update, Patch, Delete/),
  },
];
