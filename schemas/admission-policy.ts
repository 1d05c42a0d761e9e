// The ValidatingAdmissionPolicy of `spec`; `scripts/generate.ts` writes it to manifests/admission-spec.yaml. A new Transaction must follow
// the creation rules, and a stored `spec` must not change. The API server evaluates the policy when a client writes the Transaction, not
// its status. The creation rules do not apply to updates: a Transaction that is older than a rule must still get its finalizers.
import { type CreationRule, gateRules, type TargetRule, targetRules, transactionRules } from './creation-rules.ts';
import { copiedFinalizer, copyMessage, isNoCopy } from './restored-copy.ts';
import { group } from './spec-values.ts';

interface Validation {
  readonly expression: string;
  /** The API server shows it if messageExpression gives no usable text. */
  readonly message: string;
  readonly messageExpression?: string;
}

interface Variable {
  readonly name: string;
  readonly expression: string;
}

const name = `spec.transactions.${group}`;
const metadata = { name, labels: { 'app.kubernetes.io/name': 'janus' } };
const unchanged: Validation = {
  expression: '!variables.isUpdate || object.spec == oldObject.spec',
  message: 'spec is immutable: delete this Transaction and create one with another name',
};

const noCopy: Validation = {
  expression: `variables.isUpdate || ${isNoCopy}`,
  message: `metadata.finalizers: ${copyMessage('Transaction')}`,
  messageExpression: refusal('metadata.finalizers', copiedFinalizer, copyMessage('Transaction')),
};

/** A rollback has none. */
const changes: Variable = { name: 'changes', expression: 'has(object.spec.changes) ? object.spec.changes : []' };

const isUpdate: Variable = { name: 'isUpdate', expression: "request.operation == 'UPDATE'" };

export const admissionPolicy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata,
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [{ apiGroups: [group], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['transactions'] }],
    },
    variables: [isUpdate, changes, ...targetRules.map(firstRefused), ...gateRules.map(firstRefusedGate)],
    validations: [
      unchanged,
      noCopy,
      ...transactionRules.map(ofTransaction),
      ...targetRules.map(ofTarget),
      ...gateRules.map(ofGate),
    ],
  },
} as const;

export const admissionPolicyBinding = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata,
  spec: { policyName: name, validationActions: ['Deny'] },
} as const;

function ofTransaction({ path, holds, shown, message }: CreationRule): Validation {
  const value = `object.${path}`;
  return {
    expression: `variables.isUpdate || (${holds(value)})`,
    message: `${path}: ${message}`,
    messageExpression: refusal(path, shown ?? value, message),
  };
}

function ofTarget(rule: TargetRule): Validation {
  return ofChanges(rule, firstRefused(rule), 'target', 'object.spec.changes[].target');
}

function ofGate(rule: TargetRule): Validation {
  return ofChanges(rule, firstRefusedGate(rule), 'gate', 'object.spec.changes[].gate');
}

/** A rule for a member of each change. `all`: the path of the members, with `[]` in place of an index. */
function ofChanges({ path, message }: TargetRule, refused: Variable, member: string, all: string): Validation {
  const index = `variables.${refused.name}`;
  return {
    expression: `variables.isUpdate || ${index} < 0`,
    message: `spec.changes[].${member}.${path}: ${message}`,
    messageExpression: refusal(
      `spec.changes[' + string(${index}) + '].${member}.${path}`,
      `${all.replace('[]', `[${index}]`)}.${path}`,
      message,
    ),
  };
}

function firstRefusedGate({ name, path, parent, holds }: TargetRule): Variable {
  const isLeftOut = `!has(change.gate)${parent === undefined ? '' : ` || !has(change.gate.${parent})`}`;
  const rule = `${isLeftOut} || (${holds(`change.gate.${path}`)})`;
  return { name: `${name}Refused`, expression: `variables.changes.map(change, ${rule}).indexOf(false)` };
}

/** The index of the first change whose target breaks the rule; below zero if there is none. */
function firstRefused({ name, path, isOptional, holds }: TargetRule): Variable {
  const value = `change.target.${path}`;
  const isLeftOut = isOptional ? `!has(change.target) || !has(${value})` : '!has(change.target)';
  return {
    name: `${name}Refused`,
    expression: `variables.changes.map(change, ${isLeftOut} || ${holds(value)}).indexOf(false)`,
  };
}

/** Has the form of the API server's own messages. `?` replaces unprintable characters: the API server drops a message with a line break. */
function refusal(where: string, value: string, message: string): string {
  const printable = String.raw`${value}.findAll(r'[\pL\pM\pN\pP\pS ]+').join('?')`;
  return `'${where}: Invalid value: "' + ${printable} + '": ${message.replaceAll("'", "\\'")}'`;
}
