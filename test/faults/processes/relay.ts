// A relay to the API server that can reset all its connections.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeEngineKubeconfig } from '../../support/engine-identity.ts';
import type { World } from '../world.ts';

interface Relay {
  /** The engine's kubeconfig, through this relay. */
  readonly kubeconfig: string;
  /** Resets both ends of every connection. */
  reset(): void;
  close(): void;
}

export async function openRelay({ plane, controller, kubeconfig }: World): Promise<Relay> {
  const { hostname, port } = new URL(plane.url);
  const sockets = new Set<Socket>();
  const server = createServer((near) => couple(sockets, near, connect(Number(port), hostname)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directory = mkdtempSync(join(tmpdir(), 'janus-relay-'));
  const path = join(directory, 'kubeconfig');
  await writeEngineKubeconfig(controller, kubeconfig, path);
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(plane.url, url), { mode: 0o600 });
  const reset = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    kubeconfig: path,
    reset,
    close: () => {
      server.close();
      reset();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function couple(sockets: Set<Socket>, near: Socket, far: Socket): void {
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(socket);
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
    socket.pipe(other);
  }
}
