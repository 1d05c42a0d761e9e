// What a failed container has printed last: which container that is, and its lines as the engine and the command line may repeat them.
import type { LogQuery } from '../../objects/cluster.ts';
import { at, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { longestLogs } from '../model/gate.ts';
import { type PodFailure, worstPod } from './unready-pods.ts';

const mostLines = 20;
const longestLine = 400;

/** The container that says most about why a Pod is not ready; undefined if it has never run. */
export function logSourceOf(pods: readonly JsonObject[]): LogQuery | undefined {
  const worst = worstPod(pods);
  return worst === undefined ? undefined : sourceOf(worst);
}

function sourceOf({ pod, container }: PodFailure): LogQuery | undefined {
  const key = container?.isInit === true ? 'initContainerStatuses' : 'containerStatuses';
  const status = listAt(pod, 'status', key).find((one) => textAt(one, 'name') === container?.name);
  const [namespace, name] = [textAt(pod, 'metadata', 'namespace'), textAt(pod, 'metadata', 'name')];
  if (container === undefined || namespace === undefined || name === undefined) return undefined;
  const isRunning = at(status, 'state', 'running') !== undefined;
  const hasEnded = at(status, 'lastState', 'terminated') !== undefined;
  if (!isRunning && !hasEnded && at(status, 'state', 'terminated') === undefined) return undefined;
  return { namespace, pod: name, container: container.name, previous: isRunning && hasEnded };
}

// Sequences that only colour the text, or move the cursor.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these sequences begin with a control character.
const decoration = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** The last lines, each cleaned, and at most `most` UTF-16 units. If the function gets its own result, it returns it unchanged. */
export function lastLines(text: string, most = longestLogs): string {
  const lines = text.replaceAll(decoration, '').split(/\r?\n/);
  const cleaned = lines
    .filter((line) => line.trim() !== '')
    .slice(-mostLines)
    .map((line) => foreign(line, Math.min(longestLine, most)));
  let length = 0;
  const from = cleaned.findLastIndex((line) => {
    length += line.length + 1;
    return length > most + 1;
  });
  return cleaned.slice(from + 1).join('\n');
}
