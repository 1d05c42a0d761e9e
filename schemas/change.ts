// One change of a Transaction. `content` is declared without a type, any JSON: what must hold inside depends on the change (name, kind,
// namespace agree with the target; a Create carries no uid, resourceVersion, managedFields), and the hook says it.
import { text } from './fields.ts';
import { gate } from './gate.ts';
import type { Schema } from './schema.ts';
import { patterns } from './spec-values.ts';
import { undo } from './undo.ts';

const target: Schema = {
  type: 'object',
  description: 'The object that this change is about. No object may be the target of two changes.',
  required: ['apiVersion', 'kind', 'name'],
  properties: {
    apiVersion: text({
      description: 'Group and version of the object, such as v1 or apps/v1.',
      pattern: patterns.apiVersion,
      maxLength: 317,
    }),
    kind: text({
      description: 'Kind of the object, such as ConfigMap: the kind itself, not the plural that kubectl takes.',
      pattern: patterns.kind,
      maxLength: 63,
    }),
    name: text({
      description: 'Name of the object.',
      pattern: patterns.name,
      maxLength: 253,
    }),
    namespace: text({
      description: "Namespace of the object. Left out, it is the Transaction's own; leave it out for cluster-scoped kinds.",
      pattern: patterns.namespace,
      maxLength: 63,
    }),
  },
};

function keyRef(description: string): Schema {
  return {
    type: 'object',
    description,
    required: ['name', 'key'],
    properties: {
      name: { type: 'string', description: 'Name of the object.', minLength: 1, maxLength: 253 },
      key: { type: 'string', description: 'Key in its data or binaryData.', minLength: 1, maxLength: 253 },
    },
  };
}

const contentFrom: Schema = {
  type: 'object',
  description:
    "In place of content: one object as JSON or YAML, plain or gzipped, from a ConfigMap or a Secret in the Transaction's namespace. It is read once, as the ServiceAccount, before anything is changed.",
  properties: {
    configMapKeyRef: keyRef(
      'A key of a ConfigMap. It requires digest: who may write ConfigMaps must not choose what is written.',
    ),
    secretKeyRef: keyRef('A key of a Secret.'),
    digest: {
      type: 'string',
      description: 'sha256: and the SHA-256 of the bytes, unpacked where they are gzipped, in hexadecimal.',
      minLength: 71,
      maxLength: 71,
    },
  },
};

export const change: Schema = {
  type: 'object',
  description: 'One operation on one object.',
  required: ['type'],
  properties: {
    target: { ...target, description: `${target.description} An Apply may leave it out where content names the object.` },
    type: {
      type: 'string',
      description:
        'Create makes an object that must not exist. Update replaces an existing object by content; finalizers and owner references stay where content has no such list. Patch sets the fields that content names in an existing object, by server-side apply. Apply creates the object, or sets the fields that content names if it exists, by server-side apply. Delete deletes an existing object.',
      enum: ['Create', 'Update', 'Patch', 'Delete', 'Apply'],
    },
    gate,
    fieldConflicts: {
      type: 'string',
      description:
        'For Patch and Apply: Force (default) takes fields over that other field managers own with another value, Fail refuses the Transaction before anything is changed and names the fields.',
      enum: ['Force', 'Fail'],
    },
    whenImmutable: {
      type: 'string',
      description:
        'For Apply and Update, where the API server refuses to change a field of the object: Fail (default), or Recreate, which deletes the object and creates it again, with another uid.',
      enum: ['Fail', 'Recreate'],
    },
    undo: undo('For Create, Apply and Update, in place of spec.undo: what the undo of this change does with what others wrote.'),
    contentFrom,
    content: {
      description:
        'The object (Create, Update, Apply) or the fields to set (Patch); it or contentFrom is required but for Delete, where it is ignored. apiVersion, kind, metadata.name and metadata.namespace may be left out and otherwise must agree with target. Values of Secrets that stand here can be read by whoever can read the Transaction.',
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
  // With `not` the API server names what is missing; with Delete as the other choice it would propose to delete.
  allOf: [
    {
      anyOf: [
        { required: ['content'] },
        { required: ['contentFrom'] },
        { not: { properties: { type: { enum: ['Create', 'Update', 'Patch', 'Apply'] } } } },
      ],
    },
    { anyOf: [{ required: ['target'] }, { not: { properties: { type: { enum: ['Create', 'Update', 'Patch', 'Delete'] } } } }] },
  ],
};
