// Looks at gated objects for tables: a usual object of each kind, and what of it is otherwise.

import { at, isList, isObject, type Json, type JsonObject, withKey } from '../../hooks/objects/json.ts';
import type { GateEvidence } from '../../hooks/transactions/gates/verdict.ts';
import { decodeGate } from '../../hooks/transactions/model/gate.ts';
import { json } from './table.ts';

/** In no word about a sealed object. */
export const canary = 'canary-4711';

const base = { metadata: { name: 'web', namespace: 'shop', uid: 'u1', generation: 2 } };

/** Ready by the rule of its kind; `c` are the conditions: type to status, reason, and more. */
const usual: Readonly<Record<string, string>> = {
  'apps/Deployment': `{spec: {replicas: 3, progressDeadlineSeconds: 600}, status: {observedGeneration: 2, replicas: 3, updatedReplicas: 3,
    readyReplicas: 3, availableReplicas: 3}, c: {Available: [True, MinimumReplicasAvailable], Progressing: [True, NewReplicaSetAvailable]}}`,
  'apps/StatefulSet': `{spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}},
    status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3,
    currentRevision: r2, updateRevision: r2}}`,
  'apps/DaemonSet': `{spec: {updateStrategy: {type: RollingUpdate}}, status: {observedGeneration: 2, desiredNumberScheduled: 3,
    currentNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3, numberReady: 3}}`,
  'apps/ReplicaSet': `{spec: {replicas: 3}, status: {observedGeneration: 2, replicas: 3, fullyLabeledReplicas: 3,
    availableReplicas: 3, readyReplicas: 3}}`,
  '/Pod': '{status: {phase: Running}, c: {PodScheduled: [True], Ready: [True]}}',
  'batch/Job':
    '{spec: {completions: 2}, status: {startTime: "2026-01-01T00:00:00Z", succeeded: 2}, c: {Complete: [True, CompletionsReached]}}',
  '/PersistentVolumeClaim': '{spec: {storageClassName: fast}, status: {phase: Bound}}',
  '/Service': `{spec: {type: LoadBalancer, clusterIP: "10.0.0.1"}, status: {loadBalancer: {ingress: [{ip: "192.0.2.1"}]}}}`,
  '/Namespace': '{status: {phase: Active}}',
  'apiextensions.k8s.io/CustomResourceDefinition':
    '{status: {}, c: {NamesAccepted: [True, NoConflicts], Established: [True, InitialNamesAccepted]}}',
  'apiregistration.k8s.io/APIService': '{status: {}, c: {Available: [True, Passed]}}',
  'example.org/Widget': '{status: {observedGeneration: 2}, c: {Ready: [True, AllGood]}}',
};

/** A merge patch. Source: RFC 7386. */
function patched(object: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  return Object.entries(patch).reduce<JsonObject>(
    (made, [key, value]) => withKey(made, key, value === null ? undefined : patched(at(made, key), value)),
    isObject(object) ? object : {},
  );
}

function withConditions({ c, ...object }: JsonObject): JsonObject {
  if (!isObject(c)) return object;
  const conditions = Object.entries(c).map(([type, parts]) => {
    const [status = '', reason, more] = isList(parts) ? parts : [];
    return {
      type,
      status,
      ...(reason === undefined ? {} : { reason }),
      message: `${canary} says`,
      lastTransitionTime: '2026-01-01T00:00:00Z',
      ...(isObject(more) ? more : {}),
    };
  });
  return patched(object, { status: { conditions } }) as JsonObject;
}

/** The usual object of `group/kind`, but for what the merge patches in the cells say, one after the other. */
export function objectOf(kind: string, ...cells: readonly string[]): JsonObject {
  const patches = [usual[kind] ?? '{status: {}}', ...cells].map((cell) => json(cell) ?? {});
  return withConditions(patches.reduce<Json>(patched, base) as JsonObject);
}

/** A look at an object that was patched a while ago, and had a status before; `gate` as it is written. */
export function gateEvidence(
  kind: string,
  live: JsonObject | undefined,
  more: Partial<GateEvidence> & { readonly written?: Json } = {},
): GateEvidence {
  const { written = {}, ...parts } = more;
  const [group = '', name = ''] = kind.split('/');
  const gate = decodeGate(written, 'AfterChange');
  if (gate === undefined) throw new Error(`no gate: ${JSON.stringify(written)}`);
  return {
    gate,
    type: 'Patch',
    resource: {
      group,
      version: 'v1',
      plural: `${name.toLowerCase()}s`,
      kind: name,
      namespaced: true,
      statusSubresource: kind !== '/ConfigMap',
    },
    sealed: false,
    prior: { metadata: { uid: 'u1', generation: 1 } },
    uid: 'u1',
    live,
    evaluated: {},
    age: 60_000,
    ...parts,
  };
}
