// A network between the API server and all its clients alike: a proxy of TCP that delivers what it gets half a round trip later.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Undo } from '../demo/undo.ts';

interface From {
  readonly kubeconfig: string;
  /** The URL of the API server in it. */
  readonly url: string;
}

/** Returns the path of a kubeconfig whose API server is `roundTrip` ms away. */
export async function startDistance(undo: Undo, { kubeconfig, url }: From, roundTrip: number): Promise<string> {
  const { hostname, port } = new URL(url);
  const server = createServer({ noDelay: true }, (near) =>
    joined(near, connect({ host: hostname, port: Number(port), noDelay: true }), roundTrip / 2),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.add(async () => void server.close());
  const folder = mkdtempSync(join(tmpdir(), 'janus-bench-distance-'));
  undo.add(async () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'kubeconfig');
  const away = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(path, readFileSync(kubeconfig, 'utf8').replaceAll(url, away), { mode: 0o600 });
  return path;
}

function joined(near: Socket, far: Socket, delay: number): void {
  forward(near, far, delay);
  forward(far, near, delay);
}

/** ms. A timer of Node has no fractions, so a part of the chunks comes as much too early as others come late. */
const early = 0.5;

interface Late {
  readonly chunk: Buffer | undefined;
  readonly due: number;
}

/** In the order of arrival. The end of the stream travels as its bytes do. */
function forward(from: Socket, to: Socket, delay: number): void {
  const late: Late[] = [];
  const deliver = (): void => {
    for (let first = late[0]; first !== undefined && first.due <= performance.now() + early; first = late[0]) {
      late.shift();
      if (first.chunk === undefined) to.end();
      else to.write(first.chunk);
    }
    const [next] = late;
    if (next !== undefined) wake(next.due - performance.now());
  };
  const wake = (left: number): void => void setTimeout(deliver, Math.max(0, Math.round(left)));
  const add = (chunk?: Buffer): void => {
    late.push({ chunk, due: performance.now() + delay });
    if (late.length === 1) wake(delay);
  };
  from.on('data', add);
  from.on('end', () => add());
  from.on('error', () => to.destroy());
}
