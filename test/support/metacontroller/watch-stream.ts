// The body of a watch: one JSON object per line, in chunks that may end anywhere.
import { isObject, type JsonObject, parseJson, textAt } from '../../../hooks/objects/json.ts';

type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';

export interface WatchEvent {
  readonly type: WatchEventType;
  readonly object: JsonObject;
}

const types: readonly string[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'] satisfies WatchEventType[];

/** Throws on an ERROR event (for example, a version that is too old), and on everything that is no event. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<WatchEvent> {
  for await (const line of readLines(chunks)) {
    const event = parseJson(line);
    if (!isObject(event) || !isObject(event.object)) throw new Error(`expected a watch event, found ${line.slice(0, 80)}`);
    const { type, object } = event;
    if (!isType(type)) throw new Error(`the watch ended with ${String(type)}: ${textAt(object, 'message') ?? ''}`);
    yield { type, object };
  }
}

function isType(type: unknown): type is WatchEventType {
  return typeof type === 'string' && types.includes(type);
}

async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // Parts of a line are joined once, when it is complete: an object may have megabytes in many chunks.
  let parts: string[] = [];
  for await (const chunk of chunks) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      yield [...parts, line].join('');
      parts = [];
    }
    parts.push(last);
  }
}
