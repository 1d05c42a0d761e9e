// What is measured: the time of a release, what a killed client leaves, what a failed release leaves, and what becomes of a hotfix.
import { at, equalJson, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../../test/support/client.ts';
import { configMaps, transactions } from '../bench/measure.ts';
import { percentile } from '../bench/ratios.ts';
import {
  forcedKubectl,
  helm,
  janus,
  katomik,
  kubectl,
  type Release,
  run,
  type Site,
  safeHelm,
  start,
  type Tool,
} from './tools.ts';

/** A row of the table: a cell for each tool, in their order. */
export interface Row {
  readonly question: string;
  readonly cells: readonly string[];
  readonly how: string;
}

const tools: readonly Tool[] = [janus, helm, katomik, kubectl];
export const toolNames: readonly string[] = tools.map(({ name }) => name);

const frozen = 'frozen';
const onCall = 'on-call';

function releaseOf(name: string, version: number, count: number, more: Readonly<Record<number, JsonObject>> = {}): Release {
  const numbers = Array.from({ length: count }, (_, index) => index);
  const objects = numbers.map((index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${name}-${index}` },
    data: { version: `v${version}`, ...more[index] },
  }));
  return { name, version, objects };
}

const nameOf = (tool: Tool, trial: string): string => `app-${tool.name.toLowerCase().split(' ')[0]}-${trial}`;

async function read({ world }: Site, { objects }: Release): Promise<readonly JsonObject[]> {
  const { items } = await world.client.list(configMaps);
  const names = objects.map((object) => textAt(object, 'metadata', 'name'));
  return items.filter((item) => names.includes(textAt(item, 'metadata', 'name'))) as readonly JsonObject[];
}

const versionOf = (object: JsonObject | undefined): string => textAt(object, 'data', 'version') ?? '';
const countOf = (objects: readonly JsonObject[], version: number): number =>
  objects.filter((object) => versionOf(object) === `v${version}`).length;

async function edit({ world }: Site, name: string, data: JsonObject): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
  must(await world.client.apply(`${configMaps}/${name}`, object, { fieldManager: onCall, force: true }));
}

/** Seconds of a release that changes so many objects: the median of some rounds, in which the tools take turns. */
export async function measureTimes(site: Site, count: number, rounds: number): Promise<Row> {
  const names = tools.map((tool) => nameOf(tool, `time-${count}`));
  const times = tools.map((): number[] => []);
  for (let version = 1; version <= rounds + 1; version += 1)
    for (const [index, tool] of tools.entries()) {
      const words = tool.release(site, releaseOf(names[index] ?? '', version, count));
      const begin = performance.now();
      await run(site, words);
      if (version > 1) times[index]?.push(performance.now() - begin);
    }
  const seconds = times.map((each) => `${(percentile(each, 0.5) / 1000).toFixed(2)} s`);
  const how = `median of ${rounds} releases that change a field of each, with the start of the program`;
  return { question: `time for ${count} changes`, cells: seconds, how };
}

/** What is left when the client is killed once a tenth of the objects is changed, and what the next try does. */
export async function measureKilled(site: Site, count: number): Promise<Row> {
  const cells: string[] = [];
  for (const tool of tools) {
    const [before, after] = [1, 2].map((version) => releaseOf(nameOf(tool, 'killed'), version, count)) as [Release, Release];
    await run(site, tool.release(site, before));
    const client = start(site, tool.release(site, after));
    let left = false;
    void client.ended.then(() => {
      left = true;
    });
    await waitFor(async () => left || countOf(await read(site, after), 2) >= count / 10, 'a tenth of the objects to be changed');
    client.process.kill('SIGKILL');
    await client.ended;
    if (tool === janus) await finished(site, after);
    const changed = countOf(await read(site, after), 2);
    const next = await start(site, tool.release(site, after)).ended;
    const answer = next.code === 0 ? `succeeds: ${countOf(await read(site, after), 2)}` : `is refused: ${reasonIn(next.output)}`;
    cells.push(`${changed} of ${count}; the same command again ${answer}`);
  }
  return {
    question: 'objects changed by a client that is killed half way',
    cells,
    how: `SIGKILL once ${count / 10} of ${count} objects are changed`,
  };
}

/** The end of what a program says, without the addresses of objects. */
function reasonIn(output: string): string {
  const last = output.trim().split('\n').at(-1) ?? '';
  return last.replaceAll(/^Error: /g, '').slice(0, 160);
}

async function finished({ world }: Site, { name, version }: Release): Promise<void> {
  await waitFor(async () => {
    const conditions = at(must(await world.client.get(`${transactions}/${name}-${version}`)), 'status', 'conditions');
    return isList(conditions) && conditions.some((one) => textAt(one, 'type') === 'Finished' && textAt(one, 'status') === 'True');
  }, `${name}-${version} to be finished`);
}

/** Refuses updates of ConfigMaps of that name, but no dry runs: no tool can know it before. */
export async function freeze({ world }: Site): Promise<void> {
  const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic';
  const metadata = { name: frozen };
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] }];
  const expression = `!object.metadata.name.endsWith('-10') || (has(request.dryRun) && request.dryRun) || !object.metadata.name.contains('failed')`;
  const spec = { matchConstraints: { resourceRules }, validations: [{ expression, message: 'change freeze' }] };
  must(await world.client.create(`${policies}ies`, { metadata, spec }));
  const binding = { policyName: frozen, validationActions: ['Deny'] };
  must(await world.client.create(`${policies}ybindings`, { metadata, spec: binding }));
  const probe = 'failed-probe-10';
  must(await world.client.create(configMaps, { metadata: { name: probe }, data: {} }));
  await waitFor(
    async () => (await world.client.patch(`${configMaps}/${probe}`, { data: { a: 'b' } })).code === 422,
    'the policy to be in force',
  );
}

const contentOf = (object: JsonObject | undefined): Json => at(object ?? {}, 'data') ?? null;

/** Without the times of writes. */
function managersOf(object: JsonObject | undefined): Json {
  const entries = at(object ?? {}, 'metadata', 'managedFields');
  return isList(entries) ? entries.map((entry) => ({ ...(entry as JsonObject), time: null })) : null;
}

/** The release takes a field of another manager, and its last object is refused. Whether content and managers are back. */
export async function measureFailed(site: Site): Promise<readonly Row[]> {
  const [contents, managers]: [string[], string[]] = [[], []];
  for (const tool of [janus, safeHelm, katomik, forcedKubectl]) {
    const name = nameOf(tool, 'failed');
    const [before, after] = [releaseOf(name, 1, 11), releaseOf(name, 2, 11, { 0: { owner: 'release' } })];
    await run(site, tool.release(site, before));
    await edit(site, `${name}-0`, { owner: onCall });
    const was = await read(site, before);
    const { code } = await start(site, tool.release(site, after)).ended;
    if (code === 0) throw new Error(`expected ${tool.name} to fail`);
    const is = await read(site, before);
    const back = (view: (object: JsonObject | undefined) => Json): number =>
      was.filter((object, index) => equalJson(view(object), view(is[index]))).length;
    const lost = textAt(
      is.find((one) => textAt(one, 'metadata', 'name') === `${name}-0`),
      'data',
      'owner',
    );
    const field = lost === onCall ? 'is back' : lost === undefined ? 'is gone' : `has the value of the release`;
    contents.push(`${back(contentOf)} of 11; the field of the other manager ${field}`);
    managers.push(`${back(managersOf)} of 11`);
  }
  const how = 'ten of eleven objects change, one of them in a field of another manager; then a policy refuses the last one';
  const flags = 'Helm with `--rollback-on-failure`; Helm and kubectl with `--force-conflicts`';
  return [
    { question: 'objects as before after a release that fails', cells: contents, how: `${how}. ${flags}` },
    { question: 'and their `managedFields`', cells: managers, how: 'the same release, without the times of entries' },
  ];
}

/** What the objects of a release are after the way back: how many went back, and what became of an edit and of an addition. */
function afterBack(name: string, objects: readonly JsonObject[]): string {
  const find = (index: number): JsonObject | undefined =>
    objects.find((one) => textAt(one, 'metadata', 'name') === `${name}-${index}`);
  const edited = versionOf(find(0)) === 'hotfix' ? 'stays' : 'is overwritten';
  const added = textAt(find(1), 'data', 'note') === 'hotfix' ? 'stays' : 'is gone';
  return `${countOf(objects, 1)} of ${objects.length} objects go back; the edit ${edited}, the addition ${added}`;
}

/** After two releases somebody edits a field that they set, and adds another. Then the second release is taken back. */
export async function measureHotfix(site: Site): Promise<Row> {
  const cells: string[] = [];
  for (const tool of tools) {
    const name = nameOf(tool, 'hotfix');
    const [before, after] = [1, 2].map((version) => releaseOf(name, version, 10)) as [Release, Release];
    for (const release of [before, after]) await run(site, tool.release(site, release));
    await edit(site, `${name}-0`, { version: 'hotfix' });
    await edit(site, `${name}-1`, { note: 'hotfix' });
    const { code } = await start(site, tool.back(site, after, before)).ended;
    const now = await read(site, before);
    const failed = countOf(now, 1) === 0 ? 'is refused' : 'ends with an error';
    cells.push(`${code === 0 ? 'succeeds' : failed}: ${afterBack(name, now)}`);
  }
  const how =
    '`janus undo`, `helm rollback`, `katomik apply` and `kubectl apply` of the former file, without options, after two releases, an edit of a field and an addition';
  return { question: 'a hotfix in between', cells, how };
}
