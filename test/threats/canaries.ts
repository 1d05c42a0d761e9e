// Values that may be found nowhere but where they belong, and the search for them in everything that a cluster holds.
import { randomBytes } from 'node:crypto';
import { at, isList, isObject, type JsonObject, textAt, withKey } from '../../hooks/objects/json.ts';
import { type Client, freeNamespace, must, type Teardown } from '../support/client.ts';
import { type Stage, startStage } from '../support/stage.ts';

/** A stage all of whose log and answers are kept, and another namespace. */
export interface World {
  readonly stage: Stage;
  readonly elsewhere: string;
  readonly log: string[];
  readonly answers: string[];
  readonly values: string[];
  /** A canary of its own. */
  fresh(): string;
}

export async function openWorld(t: Teardown): Promise<World> {
  const [log, answers, values]: [string[], string[], string[]] = [[], [], []];
  const bare = await startStage(t, { withoutLoop: true, logTo: { write: (line) => void log.push(line) } });
  const call: Stage['call'] = async (name, path) => {
    const answer = await bare.call(name, path);
    answers.push(answer.text);
    return answer;
  };
  const fresh = (): string => {
    const value = canary();
    values.push(value);
    return value;
  };
  return { stage: { ...bare, call }, elsewhere: await freeNamespace(bare.client, 'elsewhere', t), log, answers, values, fresh };
}

export const canary = (): string => `canary-${randomBytes(12).toString('hex')}`;

/** Every form in which a value might appear; base64 also where it begins in the middle of a group. */
export function formsOf(value: string): readonly string[] {
  const base64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '');
  const shifted = [1, 2].map((shift) => base64('x'.repeat(shift) + value).slice(4, -4));
  return [value, base64(value), base64(base64(value)), Buffer.from(value).toString('hex'), ...shifted];
}

/** Text by where it was found. */
type Places = ReadonlyMap<string, string>;

/** Every object of every kind that the API server lists, in all namespaces. */
export async function everything(client: Client): Promise<Places> {
  const places = new Map<string, string>();
  const roots = ['/api/v1', ...(await groupVersions(client)).map((version) => `/apis/${version}`)];
  for (const root of roots) {
    const resources = at((await client.get(root)).body, 'resources');
    const listed = (isList(resources) ? resources : []).filter((one) => (at(one, 'verbs') as readonly string[]).includes('list'));
    for (const one of listed) {
      const path = `${root}/${textAt(one, 'name')}`;
      for (const item of (await client.list(path)).items) places.set(placeOf(path, item), JSON.stringify(told(item)));
    }
  }
  return places;
}

async function groupVersions(client: Client): Promise<readonly string[]> {
  const groups = at(must(await client.get('/apis')), 'groups');
  return (isList(groups) ? groups : []).map((group) => textAt(group, 'preferredVersion', 'groupVersion') ?? '');
}

function placeOf(path: string, item: JsonObject): string {
  return `${path} ${textAt(item, 'metadata', 'namespace') ?? ''}/${textAt(item, 'metadata', 'name') ?? ''}`;
}

// What a user writes into content lies in the spec: docs/sealing.md says so.
function told(item: JsonObject): JsonObject {
  const isTransaction = isList(at(item, 'spec', 'changes')) && isObject(at(item, 'spec'));
  return isTransaction ? withKey(item, 'spec', undefined) : item;
}

/** Where one of the values is, but for where it belongs. */
export function findings(places: Places, values: readonly string[], belongs: readonly string[]): readonly string[] {
  const forms = values.flatMap(formsOf);
  return [...places]
    .filter(([place, text]) => !belongs.includes(place) && forms.some((form) => text.includes(form)))
    .map(([place]) => place);
}
