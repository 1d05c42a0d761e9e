// What an Apply has to make of an object: what `kubectl apply --server-side` with this content, under this manager, makes of an
// object with this past. If that is refused because a field may not change, the object is deleted and applied again.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import type { Stage } from '../support/stage.ts';
import type { Plan, Target } from './arbitraries.ts';
import { leavesOf } from './oracle.ts';
import { apiVersionOf, collectionOf, type Named, pathOf, writeAs } from './world.ts';

export async function makeObject(stage: Stage, drawn: Target, one: Named | undefined): Promise<void> {
  const { isThere, kind, origin, history } = drawn;
  if (!isThere || one === undefined) return;
  const metadata = { ...(origin.metadata as JsonObject), name: one.name };
  const object = { apiVersion: apiVersionOf(kind), kind, ...origin, metadata };
  must(await stage.client.create(collectionOf(stage, kind), object, { fieldManager: 'creator' }));
  for (const [number, write] of history.entries()) await writeAs(stage.client, one, write, `author-${number}`);
}

interface Applied {
  readonly plan: Plan;
  readonly name: string;
  readonly target: Target;
  readonly index: number;
}

/** Paths of an object that the change applied, and that are not what they are to be. None for changes of other types. */
export async function complaintsOfApplied(
  stage: Stage,
  { plan, name, target, index }: Applied,
  object: JsonObject | undefined,
): Promise<readonly string[]> {
  if (target.type !== 'Apply') return [];
  const own = `${name}-${index}-plain`;
  const one = { kind: target.kind, name: own, path: pathOf(stage, target.kind, own) };
  await makeObject(stage, target, one);
  try {
    const [wanted, found] = [counted(await applied(stage, target, one, plan.fieldManager)), counted(object)];
    const paths = new Set([...wanted.keys(), ...found.keys()]);
    return [...paths]
      .filter((path) => wanted.get(path) !== found.get(path))
      .map((path) => `${name}-${index}${path} is ${found.get(path)}, a plain apply makes it ${wanted.get(path)}`);
  } finally {
    await stage.client.patch(one.path, { metadata: { finalizers: null } });
    await stage.client.delete(one.path);
  }
}

async function applied({ client }: Stage, target: Target, one: Named, fieldManager: string): Promise<JsonObject> {
  const write = { how: 'apply', content: target.content } as const;
  const manager = fieldManager === '' ? 'plain' : fieldManager;
  const answer = await writeAs(client, one, write, manager);
  if (answer.code !== 422 || !target.recreates) return must(answer);
  must(await client.delete(one.path));
  return must(await writeAs(client, one, write, manager));
}

/** Without what the API server assigns, and our mark. */
function counted(object: JsonObject | undefined): Map<string, string | undefined> {
  const assigned = /^\.spec\.clusterIPs?$|applied-by$/;
  return new Map(
    [...leavesOf(object)].filter(([path, value]) => !assigned.test(path) || value === '"None"' || value === '["None"]'),
  );
}
