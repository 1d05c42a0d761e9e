// The rules for a new Transaction, in addition to its schema: one row for each rule. admission-policy.ts makes a policy of them. They are
// not in the CRD, because the API server would evaluate them over the whole spec at every update of a status.
import {
  type Duration,
  durations,
  failFastDurations,
  gateDurations,
  longestTransactionName,
  patterns,
  refusedGroups,
} from './spec-values.ts';

export interface CreationRule {
  /** The path of the value in the Transaction, or in a target. */
  readonly path: string;
  /** CEL that is true for a good value; `value` is an expression that reads the value. */
  readonly holds: (value: string) => string;
  /** CEL: the value as text, if the value is no text. */
  readonly shown?: string;
  /** States the correct value. A user of kubectl reads only this message. It has no line break. */
  readonly message: string;
}

export interface TargetRule extends CreationRule {
  /** The name of the rule, one word. */
  readonly name: string;
  /** Whether the value may be left out. */
  readonly isOptional?: true;
  /** The object of the value, if the object may be left out. */
  readonly parent?: string;
}

function matches(pattern: string): (value: string) => string {
  return (value) => `${value}.matches(r'${pattern}')`;
}

export const transactionRules: readonly CreationRule[] = [
  {
    path: 'metadata.name',
    holds: (value) => `size(${value}) <= ${longestTransactionName}`,
    message: `shorten metadata.name to at most ${longestTransactionName} characters: other objects are named after it`,
  },
  {
    path: 'spec.serviceAccountName',
    holds: matches(patterns.serviceAccountName),
    message: 'write the name of a ServiceAccount in this namespace (lower case letters, digits, - and .)',
  },
  {
    path: 'spec.fieldManager',
    holds: (value) => `!has(${value}) || (${matches(patterns.fieldManager)(value)} && !${value}.startsWith('janus'))`,
    message: 'write a name of printable ASCII characters that does not begin with janus, such as that of the application',
  },
  {
    path: 'spec.changes',
    holds: (value) =>
      `!has(${value}) || ${value}.all(change, !has(change.wave)) || (${value}.all(change, has(change.wave)) && ${value}.map(change, change.wave).isSorted())`,
    shown: "object.spec.changes.map(change, has(change.wave) ? string(change.wave) : 'none').join(' ')",
    message: 'write a wave in every change or in none; waves do not fall along the list',
  },
  ...Object.entries(durations).map(([name, bounds]): CreationRule => ({ path: `spec.${name}`, ...within(bounds) })),
  ...Object.entries(gateDurations).map(([name, bounds]): CreationRule => {
    const { holds, message } = within(bounds);
    return { path: `spec.gate.${name}`, holds: (value) => `!has(object.spec.gate) || ${holds(value)}`, message };
  }),
  ...Object.entries(failFastDurations).map(([name, bounds]): CreationRule => {
    const { holds, message } = within(bounds);
    const isLeftOut = '!has(object.spec.gate) || !has(object.spec.gate.failFast)';
    return { path: `spec.gate.failFast.${name}`, holds: (value) => `${isLeftOut} || ${holds(value)}`, message };
  }),
];

/** The rules for the gates of changes. */
export const gateRules: readonly TargetRule[] = [
  ...Object.entries(gateDurations).map(([name, bounds]): TargetRule => ({ name, path: name, ...within(bounds) })),
  ...Object.entries(failFastDurations).map(
    ([name, bounds]): TargetRule => ({ name, path: `failFast.${name}`, parent: 'failFast', ...within(bounds) }),
  ),
];

function within({ least, most, default: usual, example }: Duration): Pick<CreationRule, 'holds' | 'message'> {
  return {
    holds: (value) =>
      `${matches(patterns.duration)(value)} && duration(${value}) >= duration('${least}') && duration(${value}) <= duration('${most}')`,
    message: `write a duration from ${least} to ${most} in units of h, m, s and ms, such as ${usual} or ${example}`,
  };
}

export const targetRules: readonly TargetRule[] = [
  {
    name: 'apiVersion',
    path: 'apiVersion',
    holds: matches(patterns.apiVersion),
    message: 'write the version, after the group and a slash if there is a group: v1, apps/v1',
  },
  {
    name: 'kind',
    path: 'kind',
    holds: matches(patterns.kind),
    message: 'write the kind as in a manifest, such as ConfigMap; no plural, no group, no subresource',
  },
  {
    name: 'name',
    path: 'name',
    holds: matches(patterns.name),
    message: "write the object's metadata.name: not . or .., without / and % and control characters",
  },
  {
    name: 'namespace',
    path: 'namespace',
    isOptional: true,
    holds: matches(patterns.namespace),
    message: 'write a namespace name (lower case letters, digits and -), or leave it out',
  },
  ...refusedGroups.map(
    ({ name, group, what }): TargetRule => ({
      name,
      path: 'apiVersion',
      holds: (value) => `!${value}.startsWith('${group}/')`,
      message: `a Transaction cannot change ${what}: take this change out and use kubectl for it`,
    }),
  ),
];
