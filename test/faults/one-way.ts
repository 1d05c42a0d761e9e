// Irreversible changes are refused before the first write, or made on explicit request; changes that only look irreversible are
// undone.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { change } from '../support/targets.ts';
import { type Case, caseOf } from './case.ts';
import { allTargets, type Evidence, writesTo } from './evidence.ts';
import { violations } from './invariants.ts';
import type { Names } from './names.ts';
import { askedBack, single } from './stories.ts';
import type { Story } from './story.ts';

interface OneWay {
  readonly id: string;
  readonly type: string;
  readonly object: (names: Names) => JsonObject;
  readonly content?: JsonObject;
}

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'none' };
const volume = {
  capacity: { storage: '1Gi' },
  accessModes: ['ReadWriteOnce'],
  hostPath: { path: '/tmp/none' },
  storageClassName: 'none',
};
const pod = { restartPolicy: 'Never', containers: [{ name: 'work', image: 'example.org/work' }] };

function typed(apiVersion: string, kind: string, rest: JsonObject): OneWay['object'] {
  return ({ run }) => ({ apiVersion, kind, metadata: { name: `${run}-one` }, ...rest });
}

function definition({ run }: Names): JsonObject {
  const group = `${run}.faults.test`;
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const spec = { group, scope: 'Namespaced', names: { plural: 'gizmos', kind: 'Gizmo' }, versions };
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `gizmos.${group}` }, spec };
}

const deployment = {
  replicas: 1,
  selector: { matchLabels: { app: 'one' } },
  template: { metadata: { labels: { app: 'one' } }, spec: { containers: pod.containers } },
};

const oneWay: readonly OneWay[] = [
  { id: 'namespace', type: 'Delete', object: typed('v1', 'Namespace', {}) },
  { id: 'definition', type: 'Delete', object: definition },
  { id: 'claim', type: 'Delete', object: typed('v1', 'PersistentVolumeClaim', { spec: claim }) },
  { id: 'volume', type: 'Delete', object: typed('v1', 'PersistentVolume', { spec: volume }) },
  { id: 'owner', type: 'Delete', object: typed('apps/v1', 'Deployment', { spec: deployment }) },
  { id: 'frozen', type: 'Patch', object: typed('v1', 'ConfigMap', { data: { a: '1' } }), content: { immutable: true } },
];

const jobs: readonly OneWay[] = [
  { id: 'job', type: 'Delete', object: typed('batch/v1', 'Job', { spec: { suspend: true, template: { spec: pod } } }) },
];

function storyOf({ id, type, object, content }: OneWay, rest: Pick<Story, 'end' | 'events' | 'annotations'>): Story {
  const target = (names: Names): JsonObject => {
    const { apiVersion = '', kind = '', metadata } = object(names);
    return change(type, (metadata as { readonly name: string }).name, content, {
      apiVersion: String(apiVersion),
      kind: String(kind),
    });
  };
  const transactions = single((names) => [change('Create', names.a, { data: { made: 'yes' } }), target(names)]);
  return { id, given: (names) => [{ object: object(names) }], transactions, isSlow: true, ...rest };
}

const optedIn = { 'tx.janus.io/allow-irreversible': 'true' };

export const oneWayCases: readonly Case[] = [
  ...oneWay.flatMap((one) => [
    caseOf(['S16', one.id, 'refused'], storyOf(one, { end: 'Failed', events: [] }), {}, refused),
    caseOf(['S16', one.id, 'opted-in'], storyOf(one, { end: 'Committed', events: [], annotations: optedIn }), {}, isDone),
  ]),
  ...jobs.map((one) => caseOf(['S16', one.id, 'undone'], storyOf(one, { end: 'RolledBack', events: [askedBack] }), {}, isUndone)),
];

function refused(evidence: Evidence): readonly string[] {
  const written = allTargets(evidence).filter((target) => writesTo(evidence, target).length > 0);
  return [...violations(evidence), ...written.map(({ key }) => `${key} was written, although it was refused`)];
}

// Each kind shows in another way that the change was made: a deletion may take time.
function isDone(evidence: Evidence): readonly string[] {
  const unwritten = allTargets(evidence).filter((target) => writesTo(evidence, target).length === 0);
  const others = violations(evidence).filter((text) => !text.startsWith('I1 outcome') || text.includes(' ends as '));
  return [...others, ...unwritten.map(({ key }) => `${key} was not written`)];
}

// The labels and the selector of a Job contain its uid.
function isUndone(evidence: Evidence): readonly string[] {
  return violations(evidence).filter((text) => !text.startsWith('I1 outcome: jobs'));
}
