// What a user may write in `spec` of a Transaction. `content` is declared without a type: with one, the immutability rule
// would let a top-level key of it be swapped for another. CEL cannot look into it for that reason, so what must hold inside
// (name, kind, namespace agree with the target; a Create carries no uid, resourceVersion, managedFields) is left to the hook.
import { matches, type Schema, text } from './schema.ts';

export const mostChanges = 500;

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
// What the API server takes for a path segment: neither `.` nor `..`, without `/` and `%`; here also without control characters.
const segment = String.raw`[^/%\x00-\x1f\x7f]`;
const segmentNoDot = String.raw`[^./%\x00-\x1f\x7f]`;
const durationPattern = String.raw`^([0-9]{1,9}(\.[0-9]{1,9})?(ns|us|µs|ms|s|m|h))+$`;

interface Duration {
  readonly description: string;
  readonly default: string;
  readonly example: string;
  readonly least: string;
  readonly most: string;
}

function duration({ description, default: fallback, example, least, most }: Duration): Schema {
  const bounds = `duration(self) >= duration('${least}') && duration(self) <= duration('${most}')`;
  const message = `write a duration from ${least} to ${most} in units of h, m, s and ms, such as ${fallback} or ${example}`;
  return {
    type: 'string',
    description: `${description} A duration from ${least} to ${most}.`,
    default: fallback,
    minLength: 1,
    maxLength: 32,
    pattern: durationPattern,
    'x-kubernetes-validations': [{ rule: `${matches('self', durationPattern)} && ${bounds}`, message }],
  };
}

const target: Schema = {
  type: 'object',
  description: 'The object that this change is about. No object may be the target of two changes.',
  required: ['apiVersion', 'kind', 'name'],
  properties: {
    apiVersion: text({
      description: 'Group and version of the object, such as v1 or apps/v1.',
      pattern: `^(${subdomain}/)?[a-z]([-a-z0-9]*[a-z0-9])?$`,
      maxLength: 317,
      message: 'write the version, after the group and a slash where there is a group: v1, apps/v1',
    }),
    kind: text({
      description: 'Kind of the object, such as ConfigMap: the kind itself, not the plural that kubectl takes.',
      pattern: '^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$',
      maxLength: 63,
      message: 'write the kind as it stands in a manifest, such as ConfigMap; no plural, no group, no subresource',
    }),
    name: text({
      description: 'Name of the object.',
      pattern: `^(${segmentNoDot}${segment}*|\\.${segmentNoDot}${segment}*|\\.\\.${segment}+)$`,
      maxLength: 253,
      message: "write the object's metadata.name: not . or .., without / and % and control characters",
    }),
    namespace: text({
      description: "Namespace of the object. Left out, it is the Transaction's own; leave it out for cluster-scoped kinds.",
      pattern: `^${label}$`,
      maxLength: 63,
      message: 'write a namespace name (lower case letters, digits and -), or leave it out',
    }),
  },
  'x-kubernetes-validations': [
    {
      rule: "!self.apiVersion.startsWith('tx.janus.io/')",
      message: 'a Transaction cannot change kinds of tx.janus.io: take this change out and use kubectl for it',
    },
    {
      rule: "!self.apiVersion.startsWith('metacontroller.k8s.io/')",
      message: 'a Transaction cannot change Metacontroller, which runs it: take this change out and use kubectl for it',
    },
  ],
};

const change: Schema = {
  type: 'object',
  description: 'One operation on one object.',
  required: ['target', 'type'],
  properties: {
    target,
    type: {
      type: 'string',
      description:
        'Create makes an object that must not exist. Update replaces an existing object by content. Patch sets the fields that content names in an existing object, by server-side apply with force. Delete deletes an existing object.',
      enum: ['Create', 'Update', 'Patch', 'Delete'],
    },
    content: {
      description:
        'The object (Create, Update) or the fields to set (Patch); required but for Delete, where it is ignored. apiVersion, kind, metadata.name and metadata.namespace may be left out and otherwise must agree with target. Values of Secrets that stand here can be read by whoever can read the Transaction.',
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
  // CEL knows no `has(self.content)` of a field without a type. With `not` the API server names content as what is missing;
  // with Delete as the other choice it would propose to delete.
  anyOf: [{ required: ['content'] }, { not: { properties: { type: { enum: ['Create', 'Update', 'Patch'] } } } }],
};

export const transactionSpec: Schema = {
  type: 'object',
  description: 'What is to be done. Cannot be changed afterwards.',
  required: ['serviceAccountName', 'changes'],
  properties: {
    serviceAccountName: text({
      description:
        "Name of a ServiceAccount in the Transaction's namespace. Every read and write of a target is done as it, with its permissions.",
      pattern: `^${subdomain}$`,
      maxLength: 253,
      message: 'write the name of a ServiceAccount in this namespace (lower case letters, digits, - and .)',
    }),
    changes: {
      type: 'array',
      description:
        'The changes, applied in this order, one by one. Should one fail, those before it are undone in reverse order. Others see the changes as they happen: there is no isolation.',
      minItems: 1,
      maxItems: mostChanges,
      items: change,
      'x-kubernetes-list-type': 'atomic',
    },
    lockTimeout: duration({
      description: 'How long a lock on a target lasts without being renewed; then another Transaction may take it.',
      default: '5m',
      example: '2m30s',
      least: '30s',
      most: '1h',
    }),
    lockWait: duration({
      description: 'How long to wait for targets that other Transactions have locked; with 0s a held lock fails at once.',
      default: '1m',
      example: '2m30s',
      least: '0s',
      most: '1h',
    }),
    timeout: duration({
      description: 'How long the changes may take in all before they are undone, and how long the undo may take then.',
      default: '30m',
      example: '1h30m',
      least: '1s',
      most: '24h',
    }),
    ttlSecondsAfterFinished: {
      type: 'integer',
      description: 'The Transaction deletes itself so many seconds after it has finished. Left out, it stays.',
      minimum: 0,
      maximum: 2147483647,
    },
  },
  'x-kubernetes-validations': [
    {
      rule: 'self == oldSelf',
      message: 'spec cannot be changed: delete this Transaction and create one with another name',
    },
  ],
};
