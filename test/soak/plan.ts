// The plan of a seed: eight Transactions with changes to twelve shared objects.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { canaryOf, type Names } from '../faults/names.ts';
import { base64, type Given, pathOfTransaction, type Story } from '../faults/story.ts';
import { widgets } from '../faults/widgets.ts';
import { conditionOf } from '../support/stage.ts';
import { type Chance, chanceOf } from './random.ts';

const transactionCount = 8;

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Whether the object can be created and deleted alone: a Deployment owns others. */
  readonly isPlain: boolean;
  /** The content with these values. */
  readonly content: (values: Values) => JsonObject;
  /** What a complete object must also have. */
  readonly whole: (names: Names) => JsonObject;
}

type Values = Readonly<Record<string, string>>;

const configMap: Kind = { apiVersion: 'v1', kind: 'ConfigMap', isPlain: true, content: (data) => ({ data }), whole: () => ({}) };

const secret: Kind = {
  apiVersion: 'v1',
  kind: 'Secret',
  isPlain: true,
  content: (values) => ({ data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)])) }),
  whole: () => ({}),
};

const deployment: Kind = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  isPlain: false,
  content: (annotations) => ({ spec: { template: { metadata: { annotations } } } }),
  whole: () => ({
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'soak' } },
      template: { metadata: { labels: { app: 'soak' } }, spec: { containers: [{ name: 'web', image: 'example.org/web:1' }] } },
    },
  }),
};

const clusterRole: Kind = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  isPlain: true,
  content: (values) => ({
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: Object.values(values), verbs: ['get'] }],
  }),
  whole: () => ({}),
};

const widget: Kind = { ...widgets.withStatus, isPlain: true, content: (values) => ({ spec: values }), whole: () => ({}) };
const gadget: Kind = { ...widgets.withoutStatus, isPlain: true, content: (values) => ({ spec: values }), whole: () => ({}) };

const kinds: readonly Kind[] = [
  ...[configMap, configMap, configMap, configMap],
  ...[secret, secret, deployment, deployment],
  ...[clusterRole, clusterRole, widget, gadget],
];

export const fields = ['k0', 'k1', 'k2', 'k3'] as const;

function objectName(names: Names, index: number): string {
  return `${names.run}-o${index.toString(16)}`;
}

/** The first one has the name of the run. */
function transactionName(names: Names, index: number): string {
  return index === 0 ? names.run : `${names.run}-t${index}`;
}

function merged(below: JsonObject, above: JsonObject): JsonObject {
  const entries = Object.entries(above).map(([key, value]) => {
    const under = below[key];
    const areMaps = [under, value].every((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
    return [key, areMaps ? merged(under as JsonObject, value as JsonObject) : value] as const;
  });
  return { ...below, ...Object.fromEntries(entries) };
}

interface Plan {
  readonly story: Story;
  readonly seed: number;
}

/** `bytes`: how much each ConfigMap that exists at the start holds beside its fields. */
export function planOf(seed: number, bytes = 0): Plan {
  const existing = existingIn(chanceOf(seed, 1));
  const changes = changesIn(chanceOf(seed, 2), existing);
  const timing = chanceOf(seed, 3);
  const story: Story = {
    id: `soak ${seed}`,
    given: (names) => existing.map((index) => given(names, index, bytes)),
    transactions: (names) =>
      Object.fromEntries(changes.map((make, index) => [transactionName(names, index), make(names)] as const)),
    spec: { lockWait: timing.oneOf(['5s', '1h', '1h']), lockTimeout: timing.oneOf(['30s', '5m']), timeout: '2h' },
    annotations: timing.happens(0.5) ? { 'tx.janus.io/automatic-rollback': 'true' } : {},
    events: secondThoughts(chanceOf(seed, 6)),
    end: 'Committed',
    mostCalls: 3_000,
  };
  return { story, seed };
}

/** Once the first one has ended, some are to be undone. */
function secondThoughts(chance: Chance): Story['events'] {
  const chosen = Array.from({ length: transactionCount }, (_, index) => index).filter(() => chance.happens(0.5));
  const annotations = { 'tx.janus.io/request-rollback': 'second thoughts' };
  return [
    {
      when: (status) => conditionOf(status, 'Finished') === 'True',
      act: ({ controller }, names) =>
        Promise.all(
          chosen.map((index) =>
            controller.patch(pathOfTransaction(names, transactionName(names, index)), { metadata: { annotations } }),
          ),
        ),
    },
  ];
}

function existingIn(chance: Chance): readonly number[] {
  return kinds.flatMap(({ isPlain }, index) => (!isPlain || chance.happens(0.7) ? [index] : []));
}

function given(names: Names, index: number, bytes: number): Given {
  const kind = kinds[index] ?? configMap;
  const metadata = { name: objectName(names, index), labels: { team: 'shop' } };
  const ballast = kind === configMap && bytes > 0 ? { ballast: 'x'.repeat(bytes) } : {};
  const values = { k0: 'old0', k1: 'old1', ...(kind === secret ? { canary: canaryOf(names) } : ballast) };
  const { apiVersion } = kind;
  const object = { apiVersion, kind: kind.kind, metadata, ...merged(kind.whole(names), kind.content(values)) };
  return kind === clusterRole ? { object } : { object, applied: kind.content({ applied: 'yes' }) };
}

type Make = (names: Names) => readonly JsonObject[];

function changesIn(chance: Chance, existing: readonly number[]): readonly Make[] {
  return Array.from({ length: transactionCount }, (_, transaction): Make => {
    const wanted = new Set(Array.from({ length: 1 + chance.below(4) }, () => chance.below(kinds.length)));
    const made = [...wanted].map((index) => changeIn(chance, { index, transaction, isThere: existing.includes(index) }));
    return (names) => made.map((one) => one(names));
  });
}

interface Slot {
  readonly index: number;
  readonly transaction: number;
  readonly isThere: boolean;
}

// Mostly a change that fits the objects at the start; by then another Transaction may have created or deleted its target.
function changeIn(chance: Chance, { index, transaction, isThere }: Slot): (names: Names) => JsonObject {
  const kind = kinds[index] ?? configMap;
  const type = typeIn(chance, kind, isThere);
  const some = fields.filter(() => chance.happens(0.5));
  const values = Object.fromEntries((some.length === 0 ? [fields[0]] : some).map((field) => [field, `t${transaction}-${field}`]));
  const label = chance.happens(0.3) ? { metadata: { labels: { team: `t${transaction}` } } } : {};
  return (names) => {
    const { apiVersion } = kind;
    const target = { apiVersion, kind: kind.kind, name: objectName(names, index) };
    if (type === 'Delete') return { type, target };
    const content = type === 'Patch' ? kind.content(values) : merged(kind.whole(names), kind.content(values));
    return { type, target, content: { ...content, ...label } };
  };
}

function typeIn(chance: Chance, { isPlain }: Kind, isThere: boolean): string {
  if (!isPlain) return chance.oneOf(['Patch', 'Patch', 'Update']);
  if (!isThere) return chance.happens(0.8) ? 'Create' : 'Patch';
  return chance.oneOf(['Patch', 'Patch', 'Update', 'Delete']);
}
