// `npm run prior-states`: compares the cost of a prior state in a ConfigMap, as the engine stores it, with an object of its own kind, on a
// control plane of its own. docs/decisions/0044 has the figures. `-- 100`: the number of each.
import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../hooks/objects/json.ts';
import { startControlPlane } from '../test/controlplane/start.ts';
import { type Client, connect, must, waitFor } from '../test/support/client.ts';

const kib = 1024;
const stateSize = 100 * kib;
const group = 'bench.janus.io';
const definition: JsonObject = {
  metadata: { name: `priorstates.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'PriorState', plural: 'priorstates', singular: 'priorstate', listKind: 'PriorStateList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { data: { type: 'object', additionalProperties: { type: 'string' } } },
          },
        },
      },
    ],
  },
};
const kinds = {
  ConfigMap: { apiVersion: 'v1', path: '/api/v1/namespaces/default/configmaps' },
  PriorState: { apiVersion: `${group}/v1`, path: `/apis/${group}/v1/namespaces/default/priorstates` },
} as const;
type Kind = keyof typeof kinds;
const names: readonly Kind[] = ['ConfigMap', 'PriorState'];

const count = Number(process.argv[2] ?? 50);
if (!Number.isInteger(count) || count < 1) {
  process.stderr.write(`expected how many of each to write, at least 1, found ${process.argv[2]}\n`);
  process.exit(1);
}
const plane = await startControlPlane();
const client = connect(plane.kubeconfig);
try {
  must(await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition));
  await waitFor(async () => (await client.get(kinds.PriorState.path)).code === 200, 'the kind to be served');
  await measure(client);
} finally {
  await client.close();
  await plane.stop();
}

function objectOf(kind: Kind, name: string, bytes: number): JsonObject {
  const state = randomBytes(Math.ceil(bytes / 2)).toString('hex');
  return { apiVersion: kinds[kind].apiVersion, kind, metadata: { name }, data: { state } };
}

async function measure(client: Client): Promise<void> {
  const times = new Map<string, number[]>();
  const timed = async (what: string, call: () => Promise<unknown>): Promise<void> => {
    const begin = performance.now();
    await call();
    times.set(what, [...(times.get(what) ?? []), performance.now() - begin]);
  };
  // In turn, so that other load on the machine affects both.
  for (let index = 0; index < count; index += 1)
    for (const kind of names) {
      const { path } = kinds[kind];
      const object = objectOf(kind, `state-${index}`, stateSize);
      await timed(`${kind} create`, async () => must(await client.create(path, object)));
      await timed(`${kind} get`, async () => must(await client.get(`${path}/state-${index}`)));
    }
  for (const kind of names) {
    await timed(`${kind} list`, () => client.list(kinds[kind].path));
    const [create, get, list] = ['create', 'get', 'list'].map((verb) => median(times.get(`${kind} ${verb}`) ?? []).toFixed(1));
    const largest = await largestOf(client, kind);
    process.stdout.write(
      `${kind}: ${count} of ${stateSize / kib} KiB: create ${create} ms, get ${get} ms (medians), list of all ${list} ms; the largest ${largest} KiB\n`,
    );
  }
}

/** The largest size of data that the API server accepts in one object, in steps of 100 KiB. */
async function largestOf(client: Client, kind: Kind): Promise<number> {
  for (let size = 900; ; size += 100)
    if ((await client.create(kinds[kind].path, objectOf(kind, `largest-${size}`, size * kib))).code !== 201) return size - 100;
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}
