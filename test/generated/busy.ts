// The objects of generated histories, and the controllers that write them all the while. A Deployment has an autoscaler, and the Deployment
// controller writes its status; the endpoints controller serves a Service. Beside them, a writer of status and an autoscaler write right
// before each dry run, and each write, of a Deployment, so often as `begin` allows.
import type { Cluster, Write } from '../../hooks/objects/cluster.ts';
import { at, isObject, type JsonObject } from '../../hooks/objects/json.ts';
import { type Answer, type Client, must } from '../support/client.ts';
import { pathIn, type Stage } from '../support/stage.ts';
import type { Data } from './histories.ts';

interface Kind {
  readonly place: string;
  readonly type: JsonObject;
  /** Where it has its data, and what else it has. */
  content(data: Data, name: string): JsonObject;
  dataOf(object: JsonObject): Data;
}

const keys = ['x', 'y', 'z'];
const own = (found: unknown): Data =>
  isObject(found as JsonObject)
    ? (Object.fromEntries(Object.entries(found as JsonObject).filter(([key]) => keys.includes(key))) as Data)
    : {};
const annotated = (data: Data): JsonObject => ({ metadata: { annotations: { ...data } } });
const ofAnnotations = (object: JsonObject): Data => own(at(object, 'metadata', 'annotations'));
const containers = [{ name: 'c', image: 'reg.example/api:1' }];

/** The number of replicas in every release. */
const released = 2;

const configMap: Kind = {
  place: 'configmaps',
  type: { apiVersion: 'v1', kind: 'ConfigMap' },
  content: (data) => ({ data: { ...data } }),
  dataOf: (object) => own(at(object, 'data')),
};
const deployment: Kind = {
  place: 'apps/v1/deployments',
  type: { apiVersion: 'apps/v1', kind: 'Deployment' },
  content: (data, name) => ({
    ...annotated(data),
    spec: {
      ...{ replicas: released, selector: { matchLabels: { app: name } } },
      template: { metadata: { labels: { app: name } }, spec: { containers } },
    },
  }),
  dataOf: ofAnnotations,
};
const service: Kind = {
  place: 'services',
  type: { apiVersion: 'v1', kind: 'Service' },
  content: (data, name) => ({ ...annotated(data), spec: { selector: { app: name }, ports: [{ port: 80 }] } }),
  dataOf: ofAnnotations,
};

/** In the order of `objects` (histories.ts). */
export const kinds: readonly Kind[] = [configMap, deployment, service];
/** Of the kinds. */
export const scaledObject = 1;

/** Somebody's values, as a merge patch. */
export function patchOf(object: number, data: Data): JsonObject {
  return kinds[object]?.place === 'configmaps' ? { data: { ...data } } : annotated(data);
}

export function createAutoscaler({ client, path }: Stage, name: string): Promise<Answer> {
  const scaleTargetRef = { ...deployment.type, name };
  const object = { metadata: { name }, spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 9 } };
  return client.create(path('autoscaling/v2/horizontalpodautoscalers'), object);
}

interface Busy {
  readonly wrap: (cluster: Cluster) => Cluster;
  /** Writes again, for the object of that name. */
  begin(client: Client, name: string): void;
  /** The number to which the autoscaler has scaled since; undefined if it has not. */
  scaledTo(name: string): number | undefined;
  /** How often it has scaled any object. */
  writes(): number;
}

interface Turns {
  readonly client: Client;
  left: number;
  number?: number;
}

const most = 3;
const time = '2026-01-01T00:00:00Z';

export function busyControllers(): Busy {
  const turns = new Map<string, Turns>();
  let count = 0;
  let writes = 0;
  const act = async ({ verb, location: { resource, namespace = '', name } }: Write): Promise<void> => {
    const turn = turns.get(name);
    const isOfTarget = resource.plural === 'deployments' && ['update', 'apply'].includes(verb);
    if (turn === undefined || !isOfTarget || turn.left === 0) return;
    turn.left -= 1;
    count += 1;
    const { client } = turn;
    const path = pathIn(namespace, `${deployment.place}/${name}`);
    const number = 3 + (count % 5);
    const by = { fieldManager: 'kube-controller-manager' };
    const scaled = await client.patch(`${path}/scale`, { spec: { replicas: number } }, 'merge', by);
    if (scaled.code === 404) return;
    must(scaled);
    writes += 1;
    turn.number = number;
    const condition = { type: 'Busy', status: 'True', reason: `Write${count}`, lastTransitionTime: time, message: '' };
    await client.patch(`${path}/status`, { status: { conditions: [condition] } }, 'merge', { fieldManager: 'busy' });
  };
  return {
    begin: (client, name) => turns.set(name, { client, left: most }),
    writes: () => writes,
    scaledTo: (name) => turns.get(name)?.number,
    wrap: (cluster) => ({
      ...cluster,
      dryRun: async (write) => {
        await act(write);
        return cluster.dryRun(write);
      },
      send: async (write, isLate) => {
        await act(write);
        return cluster.send(write, isLate);
      },
    }),
  };
}
