// Parses a YAML stream into objects, one document at a time, so that the largest document limits the memory.
import { isObject, type Json, type JsonObject } from '../../hooks/model/json.ts';
import { readYaml, Unfit } from '../yaml.ts';
import { limits } from './limits.ts';
import { invalid } from './trouble.ts';

const bounds = { levels: limits.levels, values: limits.values, characters: limits.documentBytes };

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
  const value = loaded(text);
  if (value === null) return undefined;
  if (!isObject(value)) throw invalid('package.yaml holds a document that is no object');
  return value;
}

function loaded(text: string): Json {
  try {
    const [document = null, ...others] = readYaml(text, bounds);
    if (others.length > 0) throw new Unfit('is not the YAML of objects');
    return document;
  } catch (error) {
    throw error instanceof Unfit ? invalid(`package.yaml ${error.message}`) : error;
  }
}
