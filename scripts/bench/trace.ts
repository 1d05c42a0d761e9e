// One Transaction on a time line: every call of the hook, and every request that the hook and the loop make meanwhile.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JsonObject, parseJson, textAt } from '../../hooks/model/json.ts';
import { waitFor } from '../../test/support/client.ts';
import type { Undo } from '../demo/undo.ts';
import { measure } from './measure.ts';
import { type Bar, type Lane, pictureOf } from './picture.ts';
import type { Row } from './rows.ts';
import { startWorld } from './world.ts';

const once = { transactions: 1, concurrency: 1, hook: 'janus', flags: 'tuned' } as const;
const warmUp: Row = { ...once, name: 'warm-up', changes: 5, transactions: 5 };
const traced: Row = { ...once, name: 'traced', changes: 10 };

export async function drawTrace(undo: Undo, file: string): Promise<void> {
  const calls: Bar[] = [];
  const world = await startWorld(undo, { audit: true, between: (address) => recordCalls(undo, address, calls) });
  await measure(world, warmUp);
  const begin = now();
  await measure(world, traced);
  const hookCalls = calls.filter(({ start }) => start > begin);
  const from = Math.min(...hookCalls.map(({ start }) => start)) - 10;
  const to = Math.max(...hookCalls.map(({ end }) => end)) + 40;
  const requests = await waitFor(() => auditedBetween(world.auditLog ?? '', from, to), 'the audit log');
  const title = `One Transaction of ${traced.changes} changes`;
  writeFileSync(file, pictureOf(title, [...hookCalls, ...requests], { from, to }));
  process.stdout.write(`${file}: ${hookCalls.length} calls of the hook, ${requests.length} requests to the API server\n`);
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

/** A server that passes every call on to the hook and notes how long it took. */
async function recordCalls(undo: Undo, address: string, calls: Bar[]): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const start = now();
    const { method, url = '', headers } = incoming;
    const onward = request(`${address}${url}`, { ...(method && { method }), headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      answer.on('end', () => calls.push({ lane: 'call', what: url, start, end: now() }));
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
  const lane = laneOf(textAt(event, 'userAgent') ?? '');
  const verb = textAt(event, 'verb') ?? '';
  if (lane === undefined || verb === 'watch') return [];
  const [start, end] = [microseconds(event, 'requestReceivedTimestamp'), microseconds(event, 'stageTimestamp')];
  const isDryRun = (textAt(event, 'requestURI') ?? '').includes('dryRun=All');
  return [{ lane, what: `${verb} ${objectOf(event)}${isDryRun ? ' (dry run)' : ''}`, start, end }];
}

function laneOf(userAgent: string): Lane | undefined {
  if (userAgent === 'janus') return 'hook';
  return userAgent.startsWith('metacontroller') ? 'loop' : undefined;
}

function objectOf(event: JsonObject): string {
  const [resource, subresource, name] = ['resource', 'subresource', 'name'].map((key) => textAt(event, 'objectRef', key));
  return `${[resource, subresource].filter((part) => part !== undefined).join('/')} ${name ?? ''}`;
}

/** Milliseconds with a fraction: Date reads three digits of six. */
function microseconds(event: JsonObject, key: string): number {
  const text = textAt(event, key) ?? '';
  return Date.parse(text) + Number(`0.${/\.\d{3}(\d{3})Z$/.exec(text)?.[1] ?? '0'}`);
}
