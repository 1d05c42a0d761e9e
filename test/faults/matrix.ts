// Each type of change of each of eight kinds, with and without an existing object. A change that fits is committed, and undone down
// to the last managed field; a change that does not fit changes nothing.
import { at, type JsonObject } from '../../hooks/objects/json.ts';
import { change } from '../support/targets.ts';
import { type Case, caseOf } from './case.ts';
import type { Evidence } from './evidence.ts';
import { violations } from './invariants.ts';
import type { Names } from './names.ts';
import { askedBack, single } from './stories.ts';
import { base64, type Story } from './story.ts';
import { widgets } from './widgets.ts';

interface Kind {
  readonly id: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly content: JsonObject;
  readonly other: JsonObject;
  readonly name?: (run: string) => string;
  /** An undo does not restore its contents, and its deletion takes time. */
  readonly isContainer?: boolean;
  /** Controllers of Kubernetes write its status. */
  readonly isBusy?: boolean;
}

function deployment(image: string): JsonObject {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } };
  return { spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template } };
}

function service(port: number): JsonObject {
  return { spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ name: `http-${port}`, port }] } };
}

function rule(resource: string): JsonObject {
  return { rules: [{ apiGroups: [''], resources: [resource], verbs: ['get'] }] };
}

const kinds: readonly Kind[] = [
  { id: 'configmap', apiVersion: 'v1', kind: 'ConfigMap', content: { data: { a: '1' } }, other: { data: { a: '2' } } },
  { id: 'secret', apiVersion: 'v1', kind: 'Secret', content: { data: { a: base64('1') } }, other: { data: { a: base64('2') } } },
  {
    id: 'deployment',
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    content: deployment('example.org/web:1'),
    other: deployment('example.org/web:2'),
    isBusy: true,
  },
  { id: 'with-status', ...widgets.withStatus, content: { spec: { size: 1 } }, other: { spec: { size: 2 } } },
  {
    id: 'without-status',
    ...widgets.withoutStatus,
    content: { spec: { size: 1 }, status: { seen: 1 } },
    other: { spec: { size: 2 }, status: { seen: 2 } },
  },
  { id: 'service', apiVersion: 'v1', kind: 'Service', content: service(80), other: service(81) },
  {
    id: 'clusterrole',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    content: rule('pods'),
    other: rule('configmaps'),
    name: (run) => `${run}:reader`,
  },
  {
    id: 'namespace',
    apiVersion: 'v1',
    kind: 'Namespace',
    content: { metadata: { labels: { a: '1' } } },
    other: { metadata: { labels: { a: '2' } } },
    isContainer: true,
  },
];

const types = ['Create', 'Update', 'Patch', 'Delete'] as const;

const irreversible = { 'tx.janus.io/allow-irreversible': 'true' };

export const matrixCases: readonly Case[] = kinds.flatMap((kind) =>
  types.flatMap((type) =>
    [true, false].map((isThere) =>
      caseOf(
        ['S01', kind.id, type.toLowerCase(), isThere ? 'there' : 'absent'],
        storyOf(kind, type, isThere),
        {},
        evaluatorOf(kind),
      ),
    ),
  ),
);

function storyOf(kind: Kind, type: string, isThere: boolean): Story {
  const fits = isThere === (type !== 'Create');
  const isFinal = kind.isContainer === true && type === 'Delete';
  const name = ({ run }: Names): string => kind.name?.(run) ?? `${run}-one`;
  const contents = (names: Names): readonly JsonObject[] => contentsOf(kind, type, name(names));
  return {
    id: `${kind.id}-${type}-${isThere}`,
    given: (names) => (isThere ? [{ object: objectOf(kind, name(names)) }] : []),
    transactions: single((names) => [
      change(type, name(names), type === 'Delete' ? undefined : kind.other, { apiVersion: kind.apiVersion, kind: kind.kind }),
      ...(isThere ? [] : contents(names)),
    ]),
    annotations: irreversible,
    events: fits && !isFinal ? [askedBack] : [],
    end: fits ? (isFinal ? 'Committed' : 'RolledBack') : 'Failed',
    isSlow: kind.isContainer === true || kind.isBusy === true,
  };
}

/** A Namespace is created together with an object in it. */
function contentsOf(kind: Kind, type: string, namespace: string): readonly JsonObject[] {
  const isNew = kind.isContainer === true && type === 'Create';
  return isNew ? [change('Create', `${namespace}-inside`, { data: { a: '1' } }, { namespace })] : [];
}

function objectOf({ apiVersion, kind, content }: Kind, name: string): JsonObject {
  const labels = at(content, 'metadata', 'labels') ?? { team: 'shop' };
  return { ...content, apiVersion, kind, metadata: { name, labels } };
}

// The deletion of a Namespace takes its own time, and the stamps of a controller on a new object are not ours.
function evaluatorOf({ isContainer }: Kind): (evidence: Evidence) => readonly string[] {
  return (evidence) =>
    violations(evidence).filter(
      (text) => !(isContainer === true && evidence.story.end === 'Committed' && /^I1 outcome: namespaces/.test(text)),
    );
}
