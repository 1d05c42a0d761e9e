// The recorded calls of Metacontroller 4.17.2: one Transaction is created, answered 429 and 500 once each, answered with a status
// that the CRD refuses, resynced by timer, and deleted. Callers get clones.
import { readdirSync, readFileSync } from 'node:fs';
import { at, isObject, type Json, type JsonObject, parseJson, textAt } from '../../../hooks/objects/json.ts';
import type { Received, Scripted } from './scripted-hook.ts';

const folder = new URL('../../fixtures/metacontroller/', import.meta.url);

export interface Recording {
  readonly file: string;
  /** ms since an arbitrary moment. */
  readonly at: number;
  readonly path: string;
  readonly request: JsonObject;
  readonly parent: JsonObject;
  readonly answer: Scripted & { readonly code: number; readonly body: JsonObject };
}

export function readRecordings(): readonly Recording[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.sort().map((file) => recordingIn(file, parseJson(readFileSync(new URL(file, folder), 'utf8'))));
}

function recordingIn(file: string, value: Json): Recording {
  const object = (...path: readonly string[]): JsonObject => {
    const found = at(value, ...path);
    if (isObject(found)) return found;
    throw new Error(`recording ${file}: expected an object at ${path.join('.')}, found ${JSON.stringify(found)}`);
  };
  return {
    file,
    at: Number(at(value, 'at_ms')),
    path: textAt(value, 'url') ?? '',
    request: object('request'),
    parent: object('request', 'parent'),
    answer: {
      code: Number(at(value, 'code')),
      headers: object('response_headers') as Readonly<Record<string, string>>,
      body: object('response'),
    },
  };
}

/**
 * A hook that sends the recorded answers. The status in the request, and how often it came, select the answer; so it does not
 * matter whether the outdated duplicate of the first call comes. The last answer for a status also answers all further calls with
 * it.
 */
export function replay(recordings: readonly Recording[]): (call: Received) => Scripted {
  const asked = new Map<string, number>();
  return (call) => {
    const situation = situationOf(call);
    const answers = recordings.filter((one) => situationOf(one) === situation);
    const count = asked.get(situation) ?? 0;
    asked.set(situation, count + 1);
    const chosen = answers[Math.min(count, answers.length - 1)];
    if (chosen === undefined) return { code: 500, body: { error: `nothing was recorded for ${situation}` } };
    return chosen.answer;
  };
}

function situationOf({ path, parent }: { readonly path: string; readonly parent: JsonObject }): string {
  return `${path} of ${JSON.stringify(at(parent, 'status', 'version') ?? null)}`;
}
