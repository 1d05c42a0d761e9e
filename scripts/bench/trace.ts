// Draws one Transaction on a time line. Every call of the hook, and every request of the hook and of the loop, is a line on standard output
// and a bar of a picture. At the end it prints the parts of the time until Committed.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JsonObject, parseJson, textAt } from '../../hooks/objects/json.ts';
import { waitFor } from '../../test/support/client.ts';
import type { Undo } from '../demo/undo.ts';
import { measure } from './measure.ts';
import { type Bar, type Lane, linesOf, pictureOf } from './picture.ts';
import type { Row } from './rows.ts';
import { startWorld } from './world.ts';

const warmUp: Row = {
  name: 'warm-up',
  changes: 5,
  transactions: 50,
  concurrency: 5,
  hook: 'janus',
  flags: 'tuned',
};

/** A Transaction of that row, into `file`. */
export async function drawTrace(undo: Undo, file: string, row: Row): Promise<void> {
  const calls: Bar[] = [];
  const world = await startWorld(undo, { audit: true, between: (address) => recordCalls(undo, address, calls) });
  await measure(world, warmUp);
  const begin = now();
  const [{ times } = { times: [] }] = await measure(world, { ...row, name: 'traced', transactions: 1, undo: false });
  const hookCalls = calls.filter(({ start }) => start > begin);
  const last = Math.max(...hookCalls.map(({ end }) => end)) + 40;
  const requests = await waitFor(() => auditedBetween(world.auditLog ?? '', begin, last), 'the audit log');
  const from = requests.find(({ lane }) => lane === 'client')?.start ?? begin;
  const bars = [...hookCalls, ...requests.filter(({ start }) => start >= from)];
  const to = Math.max(...bars.map(({ end }) => end));
  writeFileSync(file, pictureOf(`One Transaction of ${row.changes} changes`, bars, { from, to }));
  for (const line of linesOf(bars, from)) process.stdout.write(`${line}\n`);
  process.stdout.write(`\n${whereTimeGoes(hookCalls, from, times[0] ?? Number.NaN)}\n`);
  process.stdout.write(
    `${file}: ${hookCalls.length} calls of the hook, ${bars.length - hookCalls.length} requests to the API server\n`,
  );
}

/** `time`: ms until the Transaction was seen as Committed. */
function whereTimeGoes(calls: readonly Bar[], from: number, time: number): string {
  const before = calls.filter(({ end }) => end <= from + time).toSorted((one, other) => one.start - other.start);
  const inside = before.reduce((sum, { start, end }) => sum + end - start, 0);
  const first = (before[0]?.start ?? from) - from;
  const parts = [`${first.toFixed(1)} ms until the first call`, `${inside.toFixed(1)} ms in ${before.length} calls`];
  const rest = time - first - inside;
  return `Committed after ${time.toFixed(1)} ms: ${parts.join(', ')}, ${rest.toFixed(1)} ms between them and after the last`;
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

/** A server that forwards every call to the hook and records how long it took. */
async function recordCalls(undo: Undo, address: string, calls: Bar[]): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const start = now();
    const { method, url = '', headers } = incoming;
    const onward = request(`${address}${url}`, { ...(method && { method }), headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      answer.on('end', () => calls.push({ lane: 'call', what: 'call of the hook', name: url, start, end: now() }));
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  undo.add(async () => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function auditedBetween(file: string, from: number, to: number): readonly Bar[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) => barOf(parseJson(line) as JsonObject)).filter(({ start, end }) => start >= from && end <= to);
}

function barOf(event: JsonObject): readonly Bar[] {
  const [verb, agent, uri] = ['verb', 'userAgent', 'requestURI'].map((key) => textAt(event, key) ?? '') as [
    string,
    string,
    string,
  ];
  const [resource, subresource, name] = ['resource', 'subresource', 'name'].map((key) => textAt(event, 'objectRef', key));
  const lane = verb === 'create' && resource === 'transactions' ? 'client' : laneOf(agent);
  if (lane === undefined || verb === 'watch') return [];
  const [start, end] = [microseconds(event, 'requestReceivedTimestamp'), microseconds(event, 'stageTimestamp')];
  const path = [resource, subresource].filter((part) => part !== undefined).join('/');
  return [
    { lane, what: `${verb} ${path || uri}${uri.includes('dryRun=All') ? ' (dry run)' : ''}`, name: name ?? '', start, end },
  ];
}

function laneOf(userAgent: string): Lane | undefined {
  if (userAgent === 'janus') return 'hook';
  return userAgent.startsWith('metacontroller') ? 'loop' : undefined;
}

/** ms with a fraction: Date reads only three of the six digits. */
function microseconds(event: JsonObject, key: string): number {
  const text = textAt(event, key) ?? '';
  return Date.parse(text) + Number(`0.${/\.\d{3}(\d{3})Z$/.exec(text)?.[1] ?? '0'}`);
}
