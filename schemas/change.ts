// One change of a Transaction. `content` has no type, so it may be any JSON. The hook checks it, because the rules depend on the change:
// name, kind and namespace must agree with the target, and a Create must not carry uid, resourceVersion or managedFields.
import { changeTypes, lastWave, mayMake, typesWith } from '../hooks/transactions/model/change.ts';
import { text } from './fields.ts';
import { gate } from './gate.ts';
import type { Schema } from './schema.ts';
import { patterns } from './spec-values.ts';
import { undo } from './undo.ts';

const target: Schema = {
  type: 'object',
  description: 'The object that this change writes or deletes. No object may be the target of two changes.',
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
      description: "Namespace of the object. The default is the Transaction's namespace. Leave it out for cluster-scoped kinds.",
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
    "Instead of content: one object as JSON or YAML, plain or gzipped, from a ConfigMap or a Secret in the Transaction's namespace. The engine reads it once, as the ServiceAccount, before it changes any object.",
  properties: {
    configMapKeyRef: keyRef(
      'A key of a ConfigMap. It requires digest, so that a client that may write ConfigMaps cannot choose the content.',
    ),
    secretKeyRef: keyRef('A key of a Secret.'),
    digest: {
      type: 'string',
      description:
        'sha256: and the SHA-256 of the bytes in hexadecimal. If the bytes are gzipped, the SHA-256 of the unpacked bytes.',
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
    target: { ...target, description: `${target.description} An Apply or Create may leave it out if content names the object.` },
    type: {
      type: 'string',
      description:
        'Create makes an object that must not exist. Update replaces an existing object by content; finalizers and owner references stay if content has no such list. Patch sets the fields that content names in an existing object, by server-side apply. Apply creates the object, or sets the fields that content names if it exists, by server-side apply. Delete deletes an existing object.',
      enum: changeTypes,
    },
    gate,
    fieldConflicts: {
      type: 'string',
      description:
        'For Patch and Apply: Force (default) takes over fields that other field managers own with another value. Fail refuses the Transaction before the engine changes any object, and names the fields.',
      enum: ['Force', 'Fail'],
    },
    whenImmutable: {
      type: 'string',
      description:
        'For Apply and Update, if the API server refuses to change a field of the object: Fail (default), or Recreate, which deletes the object and creates it again, with another uid.',
      enum: ['Fail', 'Recreate'],
    },
    replicas: {
      type: 'string',
      description:
        'For Apply, Update and Patch of a kind with the subresource scale: KeepScaled (default) keeps the number of the object if an autoscaler has it as target. Set always sets the number of content.',
      enum: ['KeepScaled', 'Set'],
    },
    wave: {
      type: 'integer',
      description:
        'The wave of the change. Neighbours of one kind in a wave are sent side by side. The next wave begins when every change of this wave has ended well and its gates have passed. Either all changes have a wave or none, and waves do not fall along the list. Without waves the engine applies the changes one after the other.',
      minimum: 0,
      maximum: lastWave,
    },
    undo: undo(
      'For Create, Apply and Update, instead of spec.undo: how the undo of this change handles content of other clients.',
    ),
    contentFrom,
    content: {
      description:
        'The object (Create, Update, Apply) or the fields to set (Patch). Every change except Delete requires it or contentFrom; Delete ignores it. apiVersion, kind, metadata.name and metadata.namespace may be left out, and otherwise must agree with target. Every client that can read the Transaction can read values of Secrets in this field.',
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
  // With `not` the API server names the missing field. With Delete as the other choice its message would propose Delete.
  allOf: [
    {
      anyOf: [
        { required: ['content'] },
        { required: ['contentFrom'] },
        { not: { properties: { type: { enum: typesWith('content') } } } },
      ],
    },
    {
      anyOf: [
        { required: ['target'] },
        { not: { properties: { type: { enum: changeTypes.filter((type) => !mayMake(type)) } } } },
      ],
    },
  ],
};
