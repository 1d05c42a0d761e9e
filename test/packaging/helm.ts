// The chart, rendered by Helm itself from a folder.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { chartFiles } from '../../scripts/pack-chart/chart.ts';
import type { Teardown } from '../support/client.ts';
import { buildHelm } from '../tools/helm/helm.ts';
import { objectsOf } from './kustomize.ts';

interface Rendered {
  readonly status: number | null;
  readonly objects: readonly JsonObject[];
  /** All that Helm printed. */
  readonly text: string;
}

interface Helm {
  /** Its folder, which a test may spoil. */
  readonly chart: string;
  /** `helm template` of the release `janus`. */
  render(values?: JsonObject, namespace?: string): Rendered;
  run(...args: readonly string[]): { readonly status: number | null; readonly text: string };
}

export async function openHelm(t: Teardown): Promise<Helm> {
  const program = await buildHelm((line) => process.stderr.write(`${line}\n`));
  const directory = mkdtempSync(join(tmpdir(), 'janus-helm-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const chart = join(directory, 'janus');
  for (const [path, bytes] of chartFiles()) {
    mkdirSync(dirname(join(chart, path)), { recursive: true });
    writeFileSync(join(chart, path), bytes);
  }
  // Helm keeps no file of the tests in the home of the user.
  const env = { ...process.env, HELM_CACHE_HOME: directory, HELM_CONFIG_HOME: directory, HELM_DATA_HOME: directory };
  const run = (...args: readonly string[]) => spawnSync(program, args, { env, encoding: 'utf8', maxBuffer: 1e8 });
  return {
    chart,
    run: (...args) => {
      const { status, stdout, stderr } = run(...args);
      return { status, text: `${stdout}${stderr}` };
    },
    render: (values = {}, namespace = 'janus-system') => {
      const set = Object.entries(values).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
      const { status, stdout, stderr } = run('template', 'janus', chart, '--namespace', namespace, ...set);
      return { status, objects: status === 0 ? objectsOf(stdout) : [], text: `${stdout}${stderr}` };
    },
  };
}
