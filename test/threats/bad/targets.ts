// Targets that are refused: the parts that run Transactions, objects that cannot be restored, and objects the change does not fit.
import fc from 'fast-check';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { engineNamespace } from '../../support/install.ts';
import { label } from '../chance.ts';
import {
  type BadTransaction,
  changeWith,
  goodTarget,
  ofTarget,
  type Parts,
  type Place,
  refused,
  some,
  specWith,
} from './specs.ts';

export function targets({ namespace, present: name }: Place): readonly BadTransaction[] {
  const own = { serviceAccountName: 'deployer' };
  const notATarget = 'cannot be a target: it is the namespace of the engine or in it';
  const rbac = 'rbac.authorization.k8s.io/v1';
  return [
    {
      name: 'target: a Transaction',
      spec: ofTarget(label.map((text) => ({ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', name: text }))),
      admission: 'cannot change kinds of tx.janus.io',
      end: refused(/the kinds of tx\.janus\.io control Transactions/),
    },
    {
      name: 'target: Metacontroller',
      spec: ofTarget(
        some('CompositeController', 'DecoratorController', 'ControllerRevision').map((kind) => ({
          apiVersion: 'metacontroller.k8s.io/v1alpha1',
          kind,
        })),
      ),
      admission: 'cannot change Metacontroller',
      end: refused(/the kinds of metacontroller\.k8s\.io control Transactions/),
    },
    {
      name: 'target: a lock',
      spec: ofTarget(
        label.map((text) => ({
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          namespace: engineNamespace,
          name: `janus-lock-${text}`,
        })),
      ),
      admission: notATarget,
      end: refused(/the namespace of the engine/),
    },
    {
      name: 'target: in the namespace of the engine',
      spec: ofTarget(
        some('Secret', 'ConfigMap', 'ServiceAccount', 'Pod').map((kind) => ({
          kind,
          namespace: engineNamespace,
          name: 'janus-sealing-key',
        })),
      ),
      admission: notATarget,
      end: refused(/the namespace of the engine/),
    },
    {
      name: 'target: the namespace of the engine',
      spec: ofTarget(some({ kind: 'Namespace', name: engineNamespace })),
      admission: notATarget,
      end: refused(/it is the namespace of the engine/),
    },
    {
      name: 'target: its own Namespace',
      spec: ofTarget(some({ kind: 'Namespace', name: namespace })),
      admission: notATarget,
      end: refused(/it contains the Transaction/),
    },
    {
      name: 'target: its own ServiceAccount',
      spec: some(
        specWith([changeWith({ type: 'Patch', target: { ...goodTarget, kind: 'ServiceAccount', name: 'deployer' } })], own),
      ),
      admission: notATarget,
      end: refused(/the Transaction uses it as its ServiceAccount/),
    },
    {
      name: 'target: a part of the engine',
      spec: ofTarget(
        some<Parts>(
          { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'transactions.tx.janus.io' },
          { apiVersion: rbac, kind: 'ClusterRole', name: 'janus' },
          { apiVersion: rbac, kind: 'ClusterRoleBinding', name: 'janus-view' },
          {
            apiVersion: 'admissionregistration.k8s.io/v1',
            kind: 'ValidatingAdmissionPolicy',
            name: 'transactions.tx.janus.io',
          },
          {
            apiVersion: 'admissionregistration.k8s.io/v1',
            kind: 'ValidatingAdmissionPolicyBinding',
            name: 'transactions.tx.janus.io',
          },
        ),
      ),
      admission: notATarget,
      end: refused(/it is a part of the engine/),
    },
    {
      name: 'target: the snapshot of a Transaction',
      spec: some('Patch', 'Update', 'Delete').map((type) =>
        specWith([changeWith({ type, target: { ...goodTarget, name: 'held-rollback' } })]),
      ),
      end: refused(/it is the snapshot of a Transaction/),
    },
    {
      name: 'target: a kind that is only asked',
      spec: ofTarget(
        some<Parts>(
          { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' },
          { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' },
          { apiVersion: 'authorization.k8s.io/v1', kind: 'LocalSubjectAccessReview' },
          { kind: 'Binding' },
          { kind: 'ComponentStatus' },
        ),
      ),
      end: refused(/cannot be changed and restored/),
    },
    {
      name: 'target: an Event',
      spec: ofTarget(some<Parts>({ kind: 'Event' }, { apiVersion: 'events.k8s.io/v1', kind: 'Event' })),
      end: refused(/Events record what happened/),
    },
    {
      name: 'target: deleted, and with it what cannot be restored',
      spec: some<Parts>(
        { kind: 'Namespace', name: 'other' },
        { kind: 'PersistentVolumeClaim' },
        { kind: 'PersistentVolume' },
        { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'widgets.example.org' },
      ).map((target) =>
        specWith([changeWith({ type: 'Delete', target: { ...goodTarget, ...target } as JsonObject, content: undefined })]),
      ),
      annotations: some('TRUE', 'yes', '1', '').map((value) => ({ 'tx.janus.io/allow-irreversible': value })),
      end: ['Irreversible', /cannot be undone: annotate/],
    },
    {
      name: 'target: to be created, is there',
      spec: ofTarget(some({ name })),
      end: ['AlreadyExists', /already exists/],
    },
    {
      name: 'target: to be changed, is not there',
      spec: fc
        .tuple(some('Update', 'Patch', 'Delete'), label)
        .map(([type, text]) => specWith([changeWith({ type, target: { ...goodTarget, name: `x-${text}` } })])),
      end: ['NotFound', /does not exist/],
    },
  ];
}
