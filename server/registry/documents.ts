// Parses a YAML stream into objects, one document at a time, so that the largest document limits the memory, and without losing
// digits. It uses js-yaml with the YAML 1.1 schema, which Kubernetes reads. Values that JSON does not have (times, sets, merges)
// become text or are refused.
import {
  boolYaml11Tag,
  defineScalarTag,
  FAILSAFE_SCHEMA,
  floatYaml11Tag,
  intYaml11Tag,
  load,
  NOT_RESOLVED,
  nullYaml11Tag,
  realMapTag,
} from 'js-yaml';
import type { Json, JsonObject } from '../../hooks/model/json.ts';
import { limits } from './limits.ts';
import { invalid } from './trouble.ts';

const exactInteger = defineScalarTag('tag:yaml.org,2002:int', {
  ...intYaml11Tag,
  resolve: (source, isExplicit, tagName) => {
    if (/^[-+]?(?:0|[1-9][0-9]*)$/.test(source) && !Number.isSafeInteger(Number(source)))
      return JSON.rawJSON(String(BigInt(source)));
    // YAML 1.1 reads `1:30` as 90; Kubernetes reads it as text.
    return source.includes(':') ? NOT_RESOLVED : intYaml11Tag.resolve(source, isExplicit, tagName);
  },
});
const decimal = defineScalarTag('tag:yaml.org,2002:float', {
  ...floatYaml11Tag,
  resolve: (source, isExplicit, tagName) =>
    source.includes(':') ? NOT_RESOLVED : floatYaml11Tag.resolve(source, isExplicit, tagName),
});
const schema = FAILSAFE_SCHEMA.withTags(nullYaml11Tag, boolYaml11Tag, exactInteger, decimal, realMapTag);

const separator = /^---[ \t\r]*(?:#.*)?$/;

/** Calls `take` with each object of the stream, in order; skips empty documents. Throws if the text is no stream of objects. */
export async function readDocuments(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  take: (object: JsonObject) => void,
): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const collected = collectInto(take);
  for await (const chunk of stream) collected.add(decoded(decoder, chunk));
  collected.add(decoded(decoder, undefined));
  collected.end();
}

interface Collected {
  add(text: string): void;
  end(): void;
}

/** Collects line by line without promises: a package has millions of lines. */
function collectInto(take: (object: JsonObject) => void): Collected {
  let [lines, size, objects, rest]: [string[], number, number, string] = [[], 0, 0, ''];
  const finish = (): void => {
    const object = parseObject(lines.join('\n'));
    [lines, size] = [[], 0];
    if (object === undefined) return;
    objects += 1;
    if (objects > limits.objects) throw invalid(`package.yaml holds more than ${limits.objects} objects`);
    take(object);
  };
  const line = (text: string): void => {
    if (separator.test(text)) finish();
    else {
      lines.push(text);
      size += text.length + 1;
    }
  };
  return {
    add(text) {
      const parts = `${rest}${text}`.split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) line(part);
      if (size + rest.length > limits.documentBytes)
        throw invalid(`package.yaml holds a document of more than ${limits.documentBytes} bytes`);
    },
    end() {
      line(rest);
      finish();
    },
  };
}

function decoded(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array | undefined): string {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch {
    throw invalid('package.yaml is not UTF-8');
  }
}

function parseObject(text: string): JsonObject | undefined {
  if (text.split('\n').every((line) => /^\s*(?:#.*)?$/.test(line))) return undefined;
  const budget = { left: limits.values };
  const value = toJson(loaded(text), 0, budget);
  if (value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid('package.yaml holds a document that is no object');
  return value as JsonObject;
}

function loaded(text: string): unknown {
  try {
    return load(text, { schema, maxDepth: limits.levels });
  } catch (error) {
    // The parser's own message would quote the text.
    const place = placeOf(error);
    throw invalid(`package.yaml is not the YAML of objects${place === '' ? '' : `: line ${place} of a document`}`);
  }
}

function placeOf(error: unknown): string {
  const mark = typeof error === 'object' && error !== null && 'mark' in error ? error.mark : undefined;
  return typeof mark === 'object' && mark !== null && 'line' in mark ? String(Number(mark.line) + 1) : '';
}

interface Budget {
  left: number;
}

// An aliased value counts each time it is used: a walk through the object visits it each time.
function toJson(value: unknown, level: number, budget: Budget): Json {
  budget.left -= 1;
  if (budget.left < 0) throw invalid(`package.yaml holds a document of more than ${limits.values} values`);
  if (level > limits.levels) throw invalid(`package.yaml holds a document of more than ${limits.levels} levels`);
  if (value instanceof Map) return mapToJson(value, level, budget);
  if (Array.isArray(value)) return value.map((one) => toJson(one, level + 1, budget));
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalid('package.yaml holds a number that JSON has not');
  return (value ?? null) as Json;
}

function mapToJson(map: ReadonlyMap<unknown, unknown>, level: number, budget: Budget): JsonObject {
  const entries = [...map].map(([key, one]): [string, Json] => {
    if (typeof key === 'object' && key !== null && !JSON.isRawJSON(key))
      throw invalid('package.yaml holds a key that is no text');
    if (key === '<<') throw invalid('package.yaml merges maps by <<: write them out');
    return [JSON.isRawJSON(key) ? key.rawJSON : String(key), toJson(one, level + 1, budget)];
  });
  const object = Object.fromEntries(entries);
  if (Object.keys(object).length < entries.length) throw invalid('package.yaml holds a map with the same key twice');
  return object;
}
