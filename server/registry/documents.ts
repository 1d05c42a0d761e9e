// Parses a YAML stream into objects, one document at a time, so that the largest document limits the memory.
import type { Requester } from '../../hooks/objects/cluster.ts';
import { isList, isObject, type Json, type JsonObject, parseJson } from '../../hooks/objects/json.ts';
import { startYaml } from '../yaml-thread.ts';
import { orLate } from './late.ts';
import { limits } from './limits.ts';
import { invalid, unavailable } from './trouble.ts';

const bounds = { levels: limits.levels, values: limits.values, characters: limits.documentBytes };

/** From the start of a line to its end. */
const separators = /(?<![^\n])---[ \t\r]*(?:#[^\n]*)?(?:\n|$)/g;
/** A line that is neither empty nor a comment. */
const filled = /(?<![^\n])[ \t\r]*[^\s#]/;

/** In characters. A message to the thread and back takes as long as the YAML of a few kB. */
const batch = 65_536;

const yaml = startYaml({ name: 'packages', limit: 5_000, idle: 30_000 });

const unending = new AbortController().signal;
const anonymous: Requester = { namespace: '', uid: '' };

/**
 * Calls `take` with each object of the stream, in order. It skips empty documents. Throws if the text is not a stream of objects, or if
 * the signal is aborted before its end.
 */
export async function readDocuments(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  take: (object: JsonObject) => void,
  signal: AbortSignal = unending,
  requester: Requester = anonymous,
): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const documents = splitting();
  let [count, characters] = [0, 0];
  let waiting: string[] = [];
  // The stream is read on only after `take` has all of these. So at most a batch and one document wait.
  const parse = async (): Promise<void> => {
    const texts = waiting;
    [waiting, characters] = [[], 0];
    for (const object of await orLate(parseObjects(texts, requester, signal), signal, late)) {
      count += 1;
      if (count > limits.objects) throw invalid(`package.yaml holds more than ${limits.objects} objects`);
      take(object);
    }
  };
  for await (const chunk of stream) {
    if (signal.aborted) throw late();
    for (const document of documents.add(decoded(decoder, chunk))) {
      waiting.push(document);
      characters += document.length;
    }
    if (characters > batch) await parse();
  }
  waiting.push(...documents.add(decoded(decoder, undefined)), ...documents.end());
  await parse();
}

interface Splitting {
  /** The documents that this text completes, without empty ones. */
  add(text: string): readonly string[];
  /** The last document, if it is not empty. */
  end(): readonly string[];
}

/** Splits at lines, but makes no text for each line: a package has millions of lines. */
function splitting(): Splitting {
  let parts: string[] = [];
  let [size, rest, separated] = [0, '', 0];
  const keep = (text: string): void => {
    parts.push(text);
    size += text.length;
  };
  const finish = (): readonly string[] => {
    const document = parts.join('');
    [parts, size] = [[], 0];
    return filled.test(document) ? [document] : [];
  };
  const separate = (): readonly string[] => {
    separated += 1;
    if (separated > limits.documents) throw invalid(`package.yaml holds more than ${limits.documents} documents`);
    return finish();
  };
  return {
    add(text) {
      const all = `${rest}${text}`;
      const lines = all.lastIndexOf('\n') + 1;
      rest = all.slice(lines);
      const complete: string[] = [];
      let from = 0;
      for (const { index, 0: line } of all.slice(0, lines).matchAll(separators)) {
        keep(all.slice(from, index));
        complete.push(...separate());
        from = index + line.length;
      }
      keep(all.slice(from, lines));
      if (size + rest.length > limits.documentBytes)
        throw invalid(`package.yaml holds a document of more than ${limits.documentBytes} bytes`);
      return complete;
    },
    end() {
      keep(rest.replace(separators, ''));
      return finish();
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

function late(): Error {
  return unavailable('the package was not read in time');
}

async function parseObjects(texts: readonly string[], requester: Requester, signal: AbortSignal): Promise<readonly JsonObject[]> {
  if (texts.length === 0) return [];
  const read = await yaml.ask({ texts, bounds }, requester, signal);
  if (read === undefined) throw late();
  if (read.kind === 'unreadable') throw invalid(`package.yaml ${read.why}`);
  const documents = parseJson(read.text);
  return (isList(documents) ? documents : []).map(objectIn).filter((one) => one !== null);
}

/** Null for an empty document. */
function objectIn(documents: Json): JsonObject | null {
  const [document = null, ...others] = isList(documents) ? documents : [];
  if (others.length > 0) throw invalid('package.yaml is not the YAML of objects');
  if (document !== null && !isObject(document)) throw invalid('package.yaml holds a document that is not an object');
  return document;
}
