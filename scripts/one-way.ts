// `npm run one-way`: finds the fields of built-in kinds that can be set but not set back. On a control plane of its own it creates an
// object of each kind. It mutates each field of the schema with a real write, and tries the inverse as a dry run. Then it writes the table
// for the checks (hooks/transactions/hazards/one-way-fields.ts) and docs/one-way.md. `--dry` writes nothing.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { at, isObject, type Json, type JsonObject, textAt } from '../hooks/objects/json.ts';
import { openCluster } from '../test/controlplane/existing.ts';
import { type Client, connect, freeNamespace, must } from '../test/support/client.ts';
import { type Definitions, mutationsOf } from './one-way/mutations.ts';
import { type Seed, seeds } from './one-way/seeds.ts';
import { documentOf, tableOf } from './one-way/table.ts';
import { type Found, tryMutation } from './one-way/trial.ts';

const { values } = parseArgs({ options: { dry: { type: 'boolean', default: false }, kind: { type: 'string' } } });
const cluster = await openCluster([]);
const client = connect(cluster.kubeconfig);
try {
  const version = textAt(must(await client.get('/version')), 'gitVersion') ?? '';
  const served = await servedKinds();
  const found = await tryAll(served, at(must(await client.get('/openapi/v2')), 'definitions') as Definitions);
  const seeded = new Set(seeds.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
  const unseeded = [...served.keys()].filter((name) => !seeded.has(name));
  if (!values.dry) {
    writeFileSync(new URL('../hooks/transactions/hazards/one-way-fields.ts', import.meta.url), tableOf(found, version));
    writeFileSync(new URL('../docs/one-way.md', import.meta.url), documentOf(found, unseeded, version));
  }
  const count = (verdict: Found['verdict']): number => found.filter((one) => one.verdict === verdict).length;
  for (const one of found.filter(({ verdict }) => verdict !== 'both ways'))
    console.log(`${one.verdict}: ${one.kind} ${one.path} ${one.change} ${one.why}`);
  console.log(
    `${count('both ways')} both ways, ${count('one way')} one way, ${count('undecided')} undecided, ${unseeded.length} kinds without an object`,
  );
} finally {
  await client.close();
  await cluster.stop();
}

interface Served {
  readonly path: string;
  readonly namespaced: boolean;
}

/** The path of the collection of each kind that can be created and updated, by `apiVersion kind`. */
async function servedKinds(): Promise<ReadonlyMap<string, Served>> {
  const groups = at(must(await client.get('/apis')), 'groups') as readonly JsonObject[];
  const versions = groups.flatMap((group) => at(group, 'versions') as readonly JsonObject[]);
  const paths = versions.map((one) => textAt(one, 'groupVersion') ?? '').map((one) => [one, `/apis/${one}`] as const);
  const kinds = await Promise.all([['v1', '/api/v1'] as const, ...paths].map(([apiVersion, path]) => kindsIn(apiVersion, path)));
  return new Map(kinds.flat());
}

async function kindsIn(apiVersion: string, path: string): Promise<readonly (readonly [string, Served])[]> {
  const resources = at(must(await client.get(path)), 'resources') as readonly JsonObject[];
  return resources.filter(isChangeable).map((resource) => {
    const served = { path: `${path}|${textAt(resource, 'name')}`, namespaced: at(resource, 'namespaced') === true };
    return [`${apiVersion} ${textAt(resource, 'kind')}`, served];
  });
}

function isChangeable(resource: JsonObject): boolean {
  const verbs = at(resource, 'verbs') as readonly Json[];
  const isPart = textAt(resource, 'name')?.includes('/') === true;
  return !isPart && ['create', 'update', 'get', 'delete'].every((verb) => verbs.includes(verb));
}

async function tryAll(served: ReadonlyMap<string, Served>, definitions: Definitions): Promise<readonly Found[]> {
  const queue = seeds.filter(({ kind }) => values.kind === undefined || values.kind === kind).entries();
  const found: Found[] = [];
  const work = async (): Promise<void> => {
    for (const [index, seed] of queue) {
      const where = served.get(`${seed.apiVersion} ${seed.kind}`);
      if (where === undefined)
        throw new Error(`${seed.apiVersion} ${seed.kind} is not served: remove it from scripts/one-way/seeds.ts`);
      found.push(...(await trySeed(client, { seed, index, where, definitions })));
    }
  };
  await Promise.all(Array.from({ length: 12 }, work));
  return found;
}

interface Task {
  readonly seed: Seed;
  readonly index: number;
  readonly where: Served;
  readonly definitions: Definitions;
}

async function trySeed(client: Client, { seed, index, where, definitions }: Task): Promise<readonly Found[]> {
  const { apiVersion, kind, object } = seed;
  const [base = '', plural = ''] = where.path.split('|');
  const namespace = where.namespaced ? `/namespaces/${await freeNamespace(client, 'one-way')}` : '';
  const collection = `${base}${namespace}/${plural}`;
  const spec = at(object, 'spec');
  const names: Readonly<Record<string, string>> = {
    CustomResourceDefinition: 'seeds.one-way.example.org',
    APIService: 'v1.one-way-seed.example.org',
  };
  const whole = {
    ...object,
    ...(isObject(spec) ? { spec } : {}),
    apiVersion,
    kind,
    metadata: { name: names[kind] ?? `seed-${index}` },
  };
  const stored = await client.create(collection, whole);
  if (stored.code >= 300)
    return [{ kind: `${apiVersion} ${kind}`, path: '', change: 'set', verdict: 'undecided', why: 'no object can be made' }];
  const schema = Object.values(definitions).find((one) => isSchemaOf(one, apiVersion, kind)) ?? {};
  const found: Found[] = [];
  for (const mutation of mutationsOf(must(stored), schema, definitions))
    found.push({ kind: `${apiVersion} ${kind}`, ...(await tryMutation(client, { collection, whole, mutation })) });
  await client.delete(`${collection}/${whole.metadata.name}`, { gracePeriodSeconds: 0 });
  return found;
}

function isSchemaOf(definition: Json, apiVersion: string, kind: string): boolean {
  const kinds = at(definition, 'x-kubernetes-group-version-kind');
  const wanted = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return (
    Array.isArray(kinds) &&
    kinds.some((one) => `${textAt(one, 'group')}/${textAt(one, 'version')}` === wanted && textAt(one, 'kind') === kind)
  );
}
