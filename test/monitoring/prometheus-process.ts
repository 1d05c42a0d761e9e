// A real Prometheus on loopback, and what it answers.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { at, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Teardown, waitFor } from '../support/client.ts';
import { prometheus as binaries, type Groups } from './shipped.ts';

interface Target {
  readonly instance: string;
  /** Host and port. */
  readonly address: string;
  readonly path: string;
}

export interface Prometheus {
  /** Values of an instant query by the label of that name (empty without); throws where Prometheus refuses it. */
  values(query: string, label?: string): Promise<Readonly<Record<string, number>>>;
  get(path: string): Promise<Json>;
}

export async function startPrometheus(t: Teardown, targets: readonly Target[], rules: Groups): Promise<Prometheus> {
  const directory = mkdtempSync(join(tmpdir(), 'janus-prometheus-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'rules.yaml'), stringify(rules));
  writeFileSync(join(directory, 'prometheus.yaml'), stringify(configuration(targets)));
  const port = await freePort();
  const flags = {
    'config.file': join(directory, 'prometheus.yaml'),
    'storage.tsdb.path': join(directory, 'data'),
    'web.listen-address': `127.0.0.1:${port}`,
  };
  const { prometheus } = await binaries();
  const child = spawn(
    prometheus,
    Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-5_000);
  });
  t.teardown(async () => {
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended: ${said}`);
    return (await fetch(`${url}/-/ready`)).ok;
  }, 'Prometheus to be ready');
  return clientOf(url);
}

function configuration(targets: readonly Target[]): unknown {
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [
      {
        job_name: 'janus',
        scrape_timeout: '1s',
        static_configs: targets.map(({ instance, address, path }) => ({
          targets: [address],
          labels: { instance, __metrics_path__: path },
        })),
      },
    ],
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function clientOf(url: string): Prometheus {
  const get = async (path: string): Promise<Json> => (await (await fetch(`${url}${path}`)).json()) as Json;
  return {
    get,
    async values(query, label = '') {
      const answer = await get(`/api/v1/query?${new URLSearchParams({ query })}`);
      if (textAt(answer, 'status') !== 'success') throw new Error(`${query}: ${textAt(answer, 'error')}`);
      const found = at(answer, 'data', 'result');
      const series = isList(found) ? (found as readonly JsonObject[]) : [];
      return Object.fromEntries(series.map((one) => [textAt(one, 'metric', label) ?? '', numberOf(at(one, 'value'))]));
    },
  };
}

function numberOf(sample: Json | undefined): number {
  return isList(sample) ? Number(sample[1]) : Number.NaN;
}
