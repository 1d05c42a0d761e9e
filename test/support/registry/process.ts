// Real registries on loopback, of two implementations, each in a separate process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { buildPackages } from '../../tools/packages/packages.ts';
import { buildRegistry } from '../../tools/registry/registry.ts';
import type { Teardown } from '../client.ts';

interface Running {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** `127.0.0.1:PORT`: the prefix of the sources of its packages. */
  readonly host: string;
  readonly pid: number | undefined;
}

export type Implementation = 'distribution' | 'go-containerregistry';

interface RegistryOptions {
  readonly implementation?: Implementation;
  /** The `auth` part of Distribution's configuration. */
  readonly auth?: object;
}

export async function startRegistry(
  t: Teardown,
  { implementation = 'distribution', auth }: RegistryOptions = {},
): Promise<Running> {
  const directory = mkdtempSync(join(tmpdir(), 'janus-registry-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const report = (): void => undefined;
  if (implementation === 'go-containerregistry') return run(t, (await buildPackages(report)).registry, ['-port', '0']);
  const configuration = {
    version: 0.1,
    log: { level: 'info', formatter: 'text' },
    storage: { inmemory: {}, delete: { enabled: true } },
    http: { addr: '127.0.0.1:0', secret: 'of-tests', relativeurls: true },
    ...(auth === undefined ? {} : { auth }),
  };
  const file = join(directory, 'config.yaml');
  writeFileSync(file, stringify(configuration));
  return run(t, await buildRegistry(report), ['serve', file]);
}

async function run(t: Teardown, program: string, args: readonly string[]): Promise<Running> {
  const child = spawn(program, args, {
    env: { ...process.env, OTEL_TRACES_EXPORTER: 'none' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(async () => {
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended;
  });
  const port = await portOf(child.stderr, program);
  return { origin: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, pid: child.pid };
}

/** Both print the address where they listen. Their later output is read and dropped, so that they never wait for a reader. */
function portOf(log: NodeJS.ReadableStream, program: string): Promise<string> {
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    createInterface({ input: log })
      .on('line', (line) => {
        if (said.length < 100) said.push(line);
        const port = /listening on [^ "]*:(\d+)|serving on port (\d+)/.exec(line);
        if (port !== null) resolve(port[1] ?? port[2] ?? '');
      })
      .on('close', () => reject(new Error(`${program} ended:\n${said.join('\n')}`)));
  });
}
