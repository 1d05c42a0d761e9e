// The ValidatingAdmissionPolicy of package transactions: a new object must be well-formed, and a stored spec must not change. If an object
// was created without the policy, the hook makes these checks.
import { copyMessage, isNoCopy } from '../restored-copy.ts';
import { packagesGroup } from './package-transaction.ts';

const name = `spec.transactions.${packagesGroup}`;
const metadata = { name, labels: { 'app.kubernetes.io/name': 'janus' } };
const isDeletion = 'has(object.spec.delete)';
const isReplacement = 'has(object.spec.replace)';
const snapshot = `(${isReplacement} ? object.spec.replace.package : object.spec.install.package)`;
const packageName = `${snapshot}.metadata.name`;
// The API server's rule for names of objects, with the maximum length of a label.
const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const reference = `${snapshot}.spec.?package.orValue('')`;

// The form that hooks/crossplane/model/reference.ts reads.
const segment = '[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*';
const host = '[A-Za-z0-9.-]*[.][A-Za-z0-9.-]*(:[0-9]{1,5})?';
const form = `^${host}(/${segment})+(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?$`;

const created = [
  { expression: isNoCopy, message: `metadata.finalizers: ${copyMessage('package transaction')}` },
  {
    expression: 'object.metadata.name.size() <= 63',
    message: 'metadata.name: at most 63 characters, because all objects of this transaction carry the name as a label',
  },
  {
    expression: "object.spec.all(member, member in ['change', 'install', 'delete', 'replace', 'dryRun', 'retryLimit'])",
    message: 'spec: expected change, install, delete or replace, dryRun and retryLimit, and no other member',
  },
  {
    expression: `${isDeletion} || ${packageName}.size() <= 63 && ${packageName}.matches('^${label}([.]${label})*$')`,
    message: 'package.metadata.name: expected at most 63 of a-z, 0-9, - and ., a letter or digit at both ends',
  },
  {
    expression: `${isDeletion} || ${reference}.size() <= 512 && ${reference}.matches('${form}')`,
    message:
      'package.spec.package: expected registry, repository and tag or digest, such as registry.example.org/acme/name:v1.0.0',
  },
  ...['delete', 'replace'].map((member) => ({
    expression: `!has(object.spec.${member}) || object.spec.${member}.source.matches('^${host}(/${segment})+$')`,
    message: `spec.${member}.source: expected registry and repository, without tag or digest, such as registry.example.org/acme/name`,
  })),
];

export const packageAdmissionPolicy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata,
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [
        { apiGroups: [packagesGroup], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['transactions'] },
      ],
    },
    validations: [
      {
        expression: "request.operation != 'UPDATE' || object.spec == oldObject.spec",
        message: 'spec is immutable: create another transaction with another name',
      },
      ...created.map(({ expression, message }) => ({
        expression: `request.operation == 'UPDATE' || (${expression})`,
        message,
      })),
    ],
  },
} as const;

export const packageAdmissionPolicyBinding = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata,
  spec: { policyName: name, validationActions: ['Deny'] },
} as const;
