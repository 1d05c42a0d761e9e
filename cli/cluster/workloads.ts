// Finds the workloads of the engine and of Metacontroller: by label in all namespaces, or by name in the namespace that the user names.
import type { Resource } from '../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { deployments, usualEngineNamespace } from './engine.ts';
import { caller, type Session } from './session.ts';

const statefulSets: Resource = { ...deployments, plural: 'statefulsets', kind: 'StatefulSet' };

const label = 'app.kubernetes.io/name';

interface Wanted {
  readonly name: string;
  /** Values of the label `app.kubernetes.io/name`. */
  readonly labels: readonly string[];
  /** The first one is that of the shipped manifests. */
  readonly kinds: readonly [Resource, ...Resource[]];
  readonly usualNamespace: string;
  /** For messages. */
  readonly install: string;
  /** Names the namespace. */
  readonly option: string;
}

export const engine: Wanted = {
  ...{ name: 'janus', labels: ['janus'], kinds: [deployments], usualNamespace: usualEngineNamespace },
  ...{ install: 'install the engine', option: '--engine-namespace' },
};
export const metacontroller: Wanted = {
  ...{ name: 'metacontroller', labels: ['metacontroller', 'metacontroller-helm'], kinds: [statefulSets, deployments] },
  ...{ usualNamespace: 'metacontroller', install: 'install Metacontroller', option: '--metacontroller-namespace' },
};

interface Workload {
  /** `namespace/name` */
  readonly what: string;
  readonly object: JsonObject;
}

/** `absent`: it is nowhere. `unknown`: the user may not see whether it is there. */
type Found =
  | { readonly kind: 'found'; readonly workloads: readonly [Workload, ...Workload[]] }
  | { readonly kind: 'absent' | 'unknown'; readonly message: string };

/** Without a namespace it searches all of them. If the user may not list them, it reads the usual one, and says so. */
export async function findWorkloads(session: Session, wanted: Wanted, namespace: string | undefined): Promise<Found> {
  if (namespace !== undefined) return await named(session, wanted, namespace);
  const { cluster } = session;
  const labelSelector = `${label} in (${wanted.labels.join(',')})`;
  const options = { whole: true, limit: 100, labelSelector };
  const lists = await Promise.all(wanted.kinds.map((kind) => cluster.listMetadata(kind, undefined, caller, options)));
  const [first, ...others] = lists.flatMap((list) => (list.kind === 'failed' ? [] : list.items.map(workloadOf)));
  if (first !== undefined) return { kind: 'found', workloads: [first, ...others] };
  const [{ kind }] = wanted.kinds;
  const refused = lists.find((list) => list.kind === 'failed');
  if (refused?.kind !== 'failed')
    return {
      kind: 'absent',
      message: `no namespace has a ${kind} with label ${label}=${wanted.labels.join(' or ')}: ${wanted.install}`,
    };
  const usual = await named(session, wanted, wanted.usualNamespace);
  if (usual.kind !== 'absent') return usual;
  const { usualNamespace, name, option } = wanted;
  const why = `you may not list ${wanted.kinds[0].plural} of all namespaces (${refused.failure.reason})`;
  return {
    kind: 'unknown',
    message: `there is no ${kind} ${usualNamespace}/${name}, and only that namespace was searched: ${why}; name another one by ${option}`,
  };
}

async function named({ cluster }: Session, { name, kinds: [resource], install }: Wanted, namespace: string): Promise<Found> {
  const what = `${namespace}/${name}`;
  const answer = await cluster.get({ resource, namespace, name }, caller);
  if (answer.kind === 'ok') return { kind: 'found', workloads: [{ what, object: answer.object }] };
  const { kind, reason } = answer.failure;
  if (kind !== 'absent') return { kind: 'unknown', message: `${resource.kind} ${what} cannot be read (${reason})` };
  return { kind: 'absent', message: `there is no ${resource.kind} ${what}: ${install}, or name its namespace` };
}

function workloadOf(object: JsonObject): Workload {
  const own = (key: string): string => foreign(textAt(object, 'metadata', key) ?? '', 253);
  return { what: `${own('namespace')}/${own('name')}`, object };
}
