// Objects that later changes of their Transaction need, with Kubernetes' own controllers running: a Namespace and its contents,
// a CustomResourceDefinition and an instance. And a repeated object, which is refused.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { change } from '../support/targets.ts';
import type { Calm, Case } from './case.ts';
import { crashes, lostAnswers } from './crashes.ts';
import type { Names } from './names.ts';
import { askedBack, single } from './stories.ts';
import type { Story } from './story.ts';

function tenant({ run }: Names): readonly JsonObject[] {
  const namespace = `${run}-tenant`;
  return [
    change('Create', namespace, {}, { kind: 'Namespace' }),
    change('Create', `${run}-settings`, { data: { color: 'green' } }, { namespace }),
    change('Create', `${run}-key`, { stringData: { key: 'hush' } }, { kind: 'Secret', namespace }),
  ];
}

function definition({ run }: Names): readonly JsonObject[] {
  const group = `${run}.faults.test`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const names = { plural: 'gizmos', singular: 'gizmo', kind: 'Gizmo', listKind: 'GizmoList' };
  const spec = { group, scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] };
  return [
    change('Create', `gizmos.${group}`, { spec }, { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }),
    change('Create', `${run}-gizmo`, { size: 1 }, { apiVersion: `${group}/v1`, kind: 'Gizmo' }),
  ];
}

const slow = { given: () => [], isSlow: true } as const;

export const containers: readonly Story[] = [
  {
    ...slow,
    id: 'namespace',
    transactions: single(tenant),
    events: [],
    end: 'Committed',
    content: ({ run }) =>
      new Map([
        [`${run}-tenant`, {}],
        [`${run}-settings`, { data: { color: 'green' } }],
        [`${run}-key`, { type: 'Opaque' }],
      ]),
  },
  { ...slow, id: 'namespace-undone', transactions: single(tenant), events: [askedBack], end: 'RolledBack' },
  {
    ...slow,
    id: 'definition',
    transactions: single(definition),
    events: [],
    end: 'Committed',
    content: ({ run }) =>
      new Map([
        [`gizmos.${run}.faults.test`, {}],
        [`${run}-gizmo`, { size: 1 }],
      ] as [string, JsonObject][]),
  },
  { ...slow, id: 'definition-undone', transactions: single(definition), events: [askedBack], end: 'RolledBack' },
  {
    id: 'same-object-twice',
    transactions: single(({ b, c }) => [change('Patch', b, { data: { a: '1' } }), change('Delete', c), change('Update', b, {})]),
    events: [],
    end: 'Failed',
  },
];

export function containerCases(story: Story, calm: Calm): readonly Case[] {
  return [...crashes('S15', story, calm), ...lostAnswers('S15', story, calm)];
}
