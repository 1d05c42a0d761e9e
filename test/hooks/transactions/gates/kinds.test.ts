// When an object of each kind is ready: the answers of kstatus and of the gate. If these differ, docs/gates.md says why.
import { readFileSync } from 'node:fs';
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { needsNoRead } from '../../../../hooks/transactions/gates/kinds.ts';
import { evaluateGate } from '../../../../hooks/transactions/gates/readiness.ts';
import { longestFound } from '../../../../hooks/transactions/model/gate.ts';
import { canary, gateEvidence, objectOf } from '../../../support/gate-evidence.ts';
import { json, table } from '../../../support/table.ts';

// The object: what is otherwise than in a usual one. No word under `gate` where it agrees with kstatus.
const rows = table<'case' | 'object' | 'kstatus' | 'gate' | 'found'>(`
case                                                         | object                                                       | kstatus    | gate   | found
apps/Deployment                                              |                                                              | Current    |        | 3 of 3 replicas are available
apps/Deployment no status                                    | {status: null, c: null}                                      | InProgress |        | 0 of 3 replicas are created
apps/Deployment another generation                           | {metadata: {generation: 3}}                                  | InProgress |        | observedGeneration is 2, metadata.generation is 3
apps/Deployment generation before                            | {metadata: {generation: 1}}                                  | InProgress |        | observedGeneration is 2, metadata.generation is 1
apps/Deployment no generation                                | {metadata: {generation: null}}                               | Current    |        | 3 of 3 replicas are available
apps/Deployment no observedGeneration                        | {status: {observedGeneration: null}}                         | Current    |        | 3 of 3 replicas are available
apps/Deployment deadline                                     | {c: {Progressing: [False, ProgressDeadlineExceeded]}}        | Failed     |        | condition Progressing is False: ProgressDeadlineExceeded: ${canary} says
apps/Deployment deadline, all there                          | {c: {Progressing: [True, ProgressDeadlineExceeded]}}         | Failed     |        | condition Progressing is True: ProgressDeadlineExceeded: ${canary} says
apps/Deployment Reconciling                                  | {c: {Reconciling: [True, Busy]}}                             | InProgress |        | condition Reconciling is True: Busy: ${canary} says
apps/Deployment Reconciling False                            | {c: {Reconciling: [False, Idle], Stalled: [False, Idle]}}    | Current    |        | 3 of 3 replicas are available
apps/Deployment Stalled                                      | {c: {Stalled: [True, Stuck]}}                                | Failed     |        | condition Stalled is True: Stuck: ${canary} says
apps/Deployment Stalled first                                | {c: {Stalled: [True, Stuck], Reconciling: [True, Busy]}}     | Failed     |        | condition Stalled is True: Stuck: ${canary} says
apps/Deployment Reconciling first                            | {c: {Reconciling: [True, Busy], Stalled: [True, Stuck]}}     | InProgress |        | condition Reconciling is True: Busy: ${canary} says
apps/Deployment created                                      | {status: {replicas: 2}}                                      | InProgress |        | 2 of 3 replicas are created
apps/Deployment updated                                      | {status: {updatedReplicas: 2}}                               | InProgress |        | 2 of 3 replicas are updated
apps/Deployment old ones                                     | {status: {replicas: 4}}                                      | InProgress |        | there are 4 replicas, 3 wanted: old ones are still to go
apps/Deployment available                                    | {status: {availableReplicas: 2}}                             | InProgress |        | 2 of 3 replicas are available
apps/Deployment ready                                        | {status: {readyReplicas: 2}}                                 | InProgress |        | 2 of 3 replicas are ready
apps/Deployment replicas default                             | {spec: {replicas: null}, status: {replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}} | Current    |        | 1 of 1 replicas are available
apps/Deployment replicas default, none                       | {spec: {replicas: null}, status: {replicas: null}}           | InProgress |        | 0 of 1 replicas are created
apps/Deployment none wanted                                  | {spec: {replicas: 0}, status: {replicas: 0, updatedReplicas: 0, readyReplicas: 0, availableReplicas: 0}} | Current    |        | 0 of 0 replicas are available
apps/Deployment progressing                                  | {c: {Progressing: [True, ReplicaSetUpdated]}}                | InProgress |        | condition Progressing is True: ReplicaSetUpdated
apps/Deployment not progressing                              | {c: {Progressing: [False, NewReplicaSetAvailable]}}          | InProgress |        | condition Progressing is False: NewReplicaSetAvailable: ${canary} says
apps/Deployment no Progressing                               | {c: {Progressing: null}}                                     | InProgress |        | condition Progressing is not set
apps/Deployment no deadline                                  | {spec: {progressDeadlineSeconds: 2147483647}, c: {Progressing: null}} | Current    |        | 3 of 3 replicas are available
apps/Deployment deadline not written                         | {spec: {progressDeadlineSeconds: null}, c: {Progressing: null}} | Current    |        | 3 of 3 replicas are available
apps/Deployment not Available                                | {c: {Available: [False, MinimumReplicasUnavailable]}}        | InProgress |        | condition Available is False: MinimumReplicasUnavailable: ${canary} says
apps/Deployment no Available                                 | {c: {Available: null}}                                       | InProgress |        | condition Available is not set
apps/StatefulSet                                             |                                                              | Current    |        | 3 of 3 replicas are ready
apps/StatefulSet no status                                   | {status: null}                                               | InProgress |        | 0 of 3 replicas are created
apps/StatefulSet another generation                          | {metadata: {generation: 3}}                                  | InProgress |        | observedGeneration is 2, metadata.generation is 3
apps/StatefulSet OnDelete                                    | {spec: {updateStrategy: {type: OnDelete}}, status: {replicas: 0}} | Current    |        | its Pods are updated when somebody deletes them (OnDelete)
apps/StatefulSet created                                     | {status: {replicas: 2}}                                      | InProgress |        | 2 of 3 replicas are created
apps/StatefulSet ready                                       | {status: {readyReplicas: 2}}                                 | InProgress |        | 2 of 3 replicas are ready
apps/StatefulSet old ones                                    | {status: {replicas: 4}}                                      | InProgress |        | there are 4 replicas, 3 wanted: old ones are still to go
apps/StatefulSet updated                                     | {status: {updatedReplicas: 2}}                               | InProgress |        | 2 of 3 replicas are updated
apps/StatefulSet partition                                   | {spec: {updateStrategy: {rollingUpdate: {partition: 1}}}, status: {updatedReplicas: 2, currentReplicas: 1, currentRevision: r1}} | Current    |        | 3 of 3 replicas are ready
apps/StatefulSet partition not reached                       | {spec: {updateStrategy: {rollingUpdate: {partition: 1}}}, status: {updatedReplicas: 1}} | InProgress |        | 1 of 2 replicas are updated
apps/StatefulSet no partition                                | {spec: {updateStrategy: {rollingUpdate: null}}, status: {updatedReplicas: 0}} | Current    |        | 3 of 3 replicas are ready
apps/StatefulSet no partition, current                       | {spec: {updateStrategy: null}, status: {currentReplicas: 2}} | InProgress |        | 2 of 3 replicas are current
apps/StatefulSet no partition, revision                      | {spec: {updateStrategy: null}, status: {currentRevision: r1}} | InProgress |        | status.currentRevision is not status.updateRevision
apps/DaemonSet                                               |                                                              | Current    |        | 3 of 3 Pods are available
apps/DaemonSet no status                                     | {status: null}                                               | InProgress |        | status.observedGeneration is not set
apps/DaemonSet no generation                                 | {metadata: {generation: null}}                               | InProgress |        | metadata.generation is not set
apps/DaemonSet no observedGeneration                         | {status: {observedGeneration: null}}                         | InProgress |        | status.observedGeneration is not set
apps/DaemonSet another generation                            | {metadata: {generation: 3}}                                  | InProgress |        | observedGeneration is 2, metadata.generation is 3
apps/DaemonSet not known how many                            | {status: {desiredNumberScheduled: null}}                     | InProgress |        | status.desiredNumberScheduled is not set
apps/DaemonSet none wanted                                   | {status: {desiredNumberScheduled: 0, numberAvailable: 0}}    | Current    |        | 0 of 0 Pods are available
apps/DaemonSet scheduled                                     | {status: {currentNumberScheduled: 2}}                        | InProgress |        | 2 of 3 Pods are scheduled
apps/DaemonSet updated                                       | {status: {updatedNumberScheduled: 2}}                        | InProgress |        | 2 of 3 Pods are updated
apps/DaemonSet updated, OnDelete                             | {spec: {updateStrategy: {type: OnDelete}}, status: {updatedNumberScheduled: null}} | InProgress | ready  | 3 of 3 Pods are available
apps/DaemonSet available                                     | {status: {numberAvailable: 2}}                               | InProgress |        | 2 of 3 Pods are available
apps/DaemonSet ready                                         | {status: {numberReady: 2}}                                   | InProgress |        | 2 of 3 Pods are ready
apps/ReplicaSet                                              |                                                              | Current    |        | 3 of 3 replicas are available
apps/ReplicaSet no status                                    | {status: null}                                               | InProgress |        | 0 of 3 replicas have all labels
apps/ReplicaSet failure                                      | {c: {ReplicaFailure: [True, FailedCreate]}}                  | InProgress |        | condition ReplicaFailure is True: FailedCreate: ${canary} says
apps/ReplicaSet failure over                                 | {c: {ReplicaFailure: [False, FailedCreate]}}                 | Current    |        | 3 of 3 replicas are available
apps/ReplicaSet labels                                       | {status: {fullyLabeledReplicas: 2}}                          | InProgress |        | 2 of 3 replicas have all labels
apps/ReplicaSet available                                    | {status: {availableReplicas: 2}}                             | InProgress |        | 2 of 3 replicas are available
apps/ReplicaSet ready                                        | {status: {readyReplicas: 2}}                                 | InProgress |        | 2 of 3 replicas are ready
apps/ReplicaSet old ones                                     | {status: {replicas: 4}}                                      | InProgress |        | there are 4 replicas, 3 wanted: old ones are still to go
/Pod                                                         |                                                              | Current    |        | condition Ready is True
/Pod no status                                               | {status: null, c: null}                                      | InProgress |        | status.phase is not set
/Pod succeeded                                               | {status: {phase: Succeeded}, c: {Ready: [False, PodCompleted]}} | Current    |        | phase is Succeeded
/Pod failed                                                  | {status: {phase: Failed, reason: Evicted}, c: {Ready: [False]}} | Current    | failed | phase is Failed: Evicted
/Pod not Ready                                               | {c: {Ready: [False, ContainersNotReady]}}                    | InProgress |        | condition Ready is False: ContainersNotReady: ${canary} says
/Pod no Ready                                                | {c: {Ready: null}}                                           | InProgress |        | condition Ready is not set
/Pod crash loop                                              | {status: {containerStatuses: [{name: web, state: {waiting: {reason: CrashLoopBackOff}}}]}, c: {Ready: [False]}} | Failed     | notYet | container web waits: CrashLoopBackOff
/Pod crash loop, init                                        | {status: {initContainerStatuses: [{name: web, state: {waiting: {reason: CrashLoopBackOff}}}]}, c: {Ready: [False]}} | InProgress |        | container web waits: CrashLoopBackOff
/Pod pending                                                 | {status: {phase: Pending}, c: {Ready: [False], PodScheduled: [True]}} | InProgress |        | phase is Pending
/Pod starting                                                | {status: {phase: Pending, containerStatuses: [{name: a, state: {running: {}}}, {name: web, state: {waiting: {reason: ContainerCreating}}}]}, c: {Ready: [False]}} | InProgress |        | phase is Pending
/Pod image                                                   | {status: {phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: PodInitializing}}}, {name: web, state: {waiting: {reason: ImagePullBackOff}}}]}, c: {Ready: [False]}} | InProgress |        | container web waits: ImagePullBackOff
/Pod unschedulable                                           | {status: {phase: Pending}, c: {Ready: [False], PodScheduled: [False, Unschedulable]}} | Failed     | notYet | condition PodScheduled is False: Unschedulable: ${canary} says
batch/Job                                                    |                                                              | Current    |        | condition Complete is True
batch/Job no status                                          | {status: null, c: null}                                      | InProgress |        | it has not started
batch/Job failed                                             | {c: {Complete: null, Failed: [True, BackoffLimitExceeded]}}  | Failed     |        | condition Failed is True: BackoffLimitExceeded: ${canary} says
batch/Job running                                            | {status: {succeeded: 1}, c: {Complete: null}}                | Current    | notYet | it runs: 1 of 2 Pods have succeeded
batch/Job running, no completions                            | {spec: {completions: null}, status: {succeeded: null}, c: null} | Current    | notYet | it runs: 0 of 1 Pods have succeeded
batch/Job suspended                                          | {spec: {suspend: true}, c: {Complete: null, Suspended: [True, JobSuspended]}} | Current    | notYet | it is suspended
batch/Job formerly suspended                                 | {c: {Complete: null, Suspended: [False, JobResumed]}, status: {succeeded: 0}} | Current    | notYet | it runs: 0 of 2 Pods have succeeded
batch/Job not failed                                         | {c: {Failed: [False]}}                                       | Current    |        | condition Complete is True
/PersistentVolumeClaim                                       |                                                              | Current    |        | phase is Bound
/PersistentVolumeClaim pending                               | {status: {phase: Pending}}                                   | InProgress |        | phase is Pending
/PersistentVolumeClaim lost                                  | {status: {phase: Lost}}                                      | InProgress |        | phase is Lost
/PersistentVolumeClaim no status                             | {status: null}                                               | InProgress |        | status.phase is not set
/Service                                                     |                                                              | Current    |        | status.loadBalancer.ingress is set
/Service no address                                          | {status: {loadBalancer: {ingress: null}}}                    | Current    | notYet | status.loadBalancer.ingress is empty
/Service empty list                                          | {status: {loadBalancer: {ingress: []}}}                      | Current    | notYet | status.loadBalancer.ingress is empty
/Service no clusterIP                                        | {spec: {clusterIP: null}, status: {loadBalancer: {ingress: null}}} | InProgress |        | status.loadBalancer.ingress is empty
/Service ClusterIP                                           | {spec: {type: ClusterIP}, status: {loadBalancer: {ingress: null}}} | Current    |        | a Service of this type needs no provider
/Service NodePort                                            | {spec: {type: NodePort}, status: null}                       | Current    |        | a Service of this type needs no provider
apiextensions.k8s.io/CustomResourceDefinition                |                                                              | Current    |        | conditions NamesAccepted and Established are True
apiextensions.k8s.io/CustomResourceDefinition no conditions  | {c: null}                                                    | InProgress |        | condition NamesAccepted is not set
apiextensions.k8s.io/CustomResourceDefinition names          | {c: {NamesAccepted: [False, PluralConflict], Established: [False, Installing]}} | Failed     |        | condition NamesAccepted is False: PluralConflict: ${canary} says
apiextensions.k8s.io/CustomResourceDefinition installing     | {c: {Established: [False, Installing]}}                      | InProgress |        | condition Established is False: Installing: ${canary} says
apiextensions.k8s.io/CustomResourceDefinition not accepted   | {c: {Established: [False, NotAccepted]}}                     | Failed     |        | condition Established is False: NotAccepted: ${canary} says
apiextensions.k8s.io/CustomResourceDefinition only Established | {c: {NamesAccepted: null}}                                   | Current    | notYet | condition NamesAccepted is not set
apiextensions.k8s.io/CustomResourceDefinition only NamesAccepted | {c: {Established: null}}                                     | InProgress |        | condition Established is not set
apiextensions.k8s.io/CustomResourceDefinition Established, then a refusal | {c: null, status: {conditions: [{type: Established, status: "True"}, {type: NamesAccepted, status: "False", reason: KindConflict}]}} | Current    | failed | condition NamesAccepted is False: KindConflict
apiregistration.k8s.io/APIService                            |                                                              | Current    |        | condition Available is True
apiregistration.k8s.io/APIService not there                  | {c: {Available: [False, MissingEndpoints]}}                  | Current    | notYet | condition Available is False: MissingEndpoints: ${canary} says
apiregistration.k8s.io/APIService no conditions              | {c: null}                                                    | Current    | notYet | condition Available is not set
/Namespace                                                   |                                                              | Current    |        | phase is Active
/Namespace no status                                         | {status: null}                                               | Current    | notYet | status.phase is not set
policy/PodDisruptionBudget                                   | {c: {DisruptionAllowed: [False]}}                            | Current    |        | it is stored, and nothing else makes it ready
batch/CronJob                                                |                                                              | Current    |        | it is stored, and nothing else makes it ready
networking.k8s.io/Ingress                                    |                                                              | Current    |        | it is stored, and nothing else makes it ready
/PersistentVolume                                            |                                                              | Current    |        | it is stored, and nothing else makes it ready
/ResourceQuota                                               |                                                              | Current    |        | it is stored, and nothing else makes it ready
autoscaling/HorizontalPodAutoscaler                          | {c: {ScalingActive: [False]}}                                | Current    |        | it is stored, and nothing else makes it ready
/ConfigMap                                                   | {status: null}                                               | Current    |        | it is stored, and nothing else makes it ready
example.org/Widget                                           |                                                              | Current    |        | condition Ready is True
example.org/Widget not Ready                                 | {c: {Ready: [False, NoIssuer]}}                              | InProgress |        | condition Ready is False: NoIssuer: ${canary} says
example.org/Widget not known                                 | {c: {Ready: [Unknown]}}                                      | InProgress |        | condition Ready is Unknown: ${canary} says
example.org/Widget another generation                        | {metadata: {generation: 3}}                                  | InProgress |        | observedGeneration is 2, metadata.generation is 3
example.org/Widget no condition                              | {c: null}                                                    | Current    |        | its status has no condition Ready
example.org/Widget no status                                 | {c: null, status: null}                                      | Current    |        | it has no status
example.org/Widget Stalled                                   | {c: {Stalled: [True, Stuck]}}                                | Failed     |        | condition Stalled is True: Stuck: ${canary} says
example.org/Widget another kind of reason                    | {c: {Ready: [False, "no such thing"]}}                       | InProgress |        | condition Ready is False: ${canary} says
`);

const words = { Current: 'ready', InProgress: 'notYet', Failed: 'failed' } as const;

for (const row of rows) {
  t.test(`${row.case}: ${row.gate === '' ? row.kstatus : `${row.gate}, where kstatus says ${row.kstatus}`}`, async (t) => {
    const [kind = ''] = row.case.split(' ');
    const live = objectOf(kind, row.object);
    const agreeing = words[row.kstatus as keyof typeof words];
    t.not(row.gate, agreeing, 'a word under gate is a departure');
    const expected = { kind: row.gate || agreeing, found: row.found };
    t.same(evaluateGate(gateEvidence(kind, live)), expected);
    t.same(evaluateGate(gateEvidence(kind, live, { age: 61_000 })), expected, 'nothing of it is the time');
    const sealed = evaluateGate(gateEvidence(kind, live, { sealed: true }));
    t.equal(sealed.kind, expected.kind);
    t.notMatch(sealed.found, new RegExp(`${canary}|\\d|\\bweb\\b`), 'of a sealed object neither message nor value');
    t.ok(sealed.found.length > 10);
  });
}

/** The section of docs/gates.md under that heading. */
function documented(heading: string): string {
  const document = readFileSync(new URL('../../../../docs/gates.md', import.meta.url), 'utf8');
  return document.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
}

const kindOf = ({ case: name }: (typeof rows)[number]): string => name.split(' ')[0]?.split('/')[1] ?? '';

t.test('docs/gates.md has the kinds that have a rule, and each departure', async (t) => {
  const kinds = (heading: string) =>
    [...documented(heading).matchAll(/^\| ([A-Z][A-Za-z, ]+?) +\|/gm)].flatMap(([, cell = '']) => cell.split(', '));
  const tried = new Set(rows.map(kindOf).filter((kind) => !['ConfigMap', 'Widget'].includes(kind)));
  t.same(kinds('Rules by kind').sort(), [...tried].sort());
  const departing = new Set(rows.filter(({ gate }) => gate !== '').map(kindOf));
  t.same(
    [...departing].filter((kind) => !kinds('Departures from kstatus').includes(kind)),
    [],
  );
});

const classes = table<'claim' | 'class' | 'is'>(`
claim                                                        | class                                     | is
{status: {phase: Pending}}                                   | {volumeBindingMode: WaitForFirstConsumer} | ready
{status: {phase: Pending}, metadata: {labels: {a: b}, annotations: {a: b}}} | {volumeBindingMode: WaitForFirstConsumer} | ready
{status: {phase: Pending}, metadata: {annotations: {"volume.kubernetes.io/selected-node": n1}}} | {volumeBindingMode: WaitForFirstConsumer} | notYet
{status: {phase: Pending}, metadata: {labels: {a: c}}}       | {volumeBindingMode: Immediate}            | notYet
{status: {phase: Pending}, metadata: {labels: {a: d}}}       |                                           | notYet
{status: {phase: Lost}}                                      | {volumeBindingMode: WaitForFirstConsumer} | notYet
`);
for (const row of classes) {
  t.test(`a claim that waits for its first Pod: ${row.claim}, ${row.class}`, async (t) => {
    const kind = '/PersistentVolumeClaim';
    const more = row.class === '' ? {} : { storageClass: json(row.class) as JsonObject };
    const { kind: is, found } = evaluateGate(gateEvidence(kind, objectOf(kind, row.claim), more));
    t.equal(is, row.is);
    if (is === 'ready') t.equal(found, 'phase is Pending: it waits for its first Pod (WaitForFirstConsumer)');
  });
}

t.test('gates that pass without a read', async (t) => {
  const { resource } = gateEvidence('/ConfigMap', undefined);
  const configMap = gateEvidence('/ConfigMap', undefined);
  t.ok(needsNoRead(configMap));
  t.match(evaluateGate({ ...configMap, live: objectOf('/ConfigMap') }), { kind: 'ready' }, 'and a look agrees');
  t.notOk(needsNoRead({ ...configMap, resource: { ...resource, statusSubresource: true } }), 'somebody writes its status');
  t.notOk(needsNoRead({ ...configMap, type: 'Delete' }), 'it must be gone');
  t.notOk(needsNoRead({ ...configMap, resource: { ...resource, group: 'batch', kind: 'Job' } }), 'it has a rule');
  for (const check of ['ready', 'failed'])
    t.notOk(needsNoRead(gateEvidence('/ConfigMap', undefined, { written: { [check]: { expression: 'true' } } })), check);
});

t.test('words are bounded and on one line', async (t) => {
  const long = objectOf('example.org/Widget', `{c: {Ready: [False, Bad, {message: "${'x\\n\\u0000\\u202e'.repeat(500)}"}]}}`);
  const { found } = evaluateGate(gateEvidence('example.org/Widget', long));
  t.ok(found.length <= longestFound);
  t.match(found, /^condition Ready is False: Bad: x [\x20-\x7e]+…$/);
});
