// A real Prometheus on loopback, and what it answers; an Alertmanager.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { at, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { freePort } from '../controlplane/start.ts';
import { type Teardown, waitFor } from '../support/client.ts';
import { prometheus as binaries, type Groups } from './shipped.ts';

interface Target {
  readonly instance: string;
  /** Host and port. */
  readonly address: string;
}

export interface Prometheus {
  /** Values of an instant query by the label of that name (empty without); throws where Prometheus refuses it. */
  values(query: string, label?: string): Promise<Readonly<Record<string, number>>>;
  get(path: string): Promise<Json>;
}

/** `alertmanager`: its host and port; alerts go nowhere without one. */
export async function startPrometheus(
  t: Teardown,
  targets: readonly Target[],
  rules: Groups,
  alertmanager?: string,
): Promise<Prometheus> {
  const { prometheus } = await binaries();
  const files = { 'rules.yaml': rules, 'config.yaml': configuration(targets, alertmanager) };
  return clientOf(await serve(t, prometheus, files, ['--storage.tsdb.path=data']));
}

/** Returns its host and port. */
export async function startAlertmanager(t: Teardown, config: Json): Promise<string> {
  const { alertmanager } = await binaries();
  const url = await serve(t, alertmanager, { 'config.yaml': config }, ['--storage.path=data', '--cluster.listen-address=']);
  return new URL(url).host;
}

/** Starts it in a folder of its own with these files, and waits until it is ready. Returns its address. */
async function serve(
  t: Teardown,
  program: string,
  files: Readonly<Record<string, unknown>>,
  flags: readonly string[],
): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'janus-prometheus-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), stringify(content));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(program, ['--config.file=config.yaml', `--web.listen-address=${address}`, ...flags], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-5_000);
  });
  t.teardown(async () => {
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended;
  });
  await waitFor(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
    return (await fetch(`http://${address}/-/ready`)).ok;
  }, `${program} to be ready`);
  return `http://${address}`;
}

function configuration(targets: readonly Target[], alertmanager: string | undefined): unknown {
  const alertmanagers = alertmanager === undefined ? [] : [{ static_configs: [{ targets: [alertmanager] }] }];
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    alerting: { alertmanagers },
    scrape_configs: [
      {
        job_name: 'janus',
        scrape_timeout: '1s',
        static_configs: targets.map(({ instance, address }) => ({ targets: [address], labels: { instance } })),
      },
    ],
  };
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
