// `npm run compare`: runs Janus, Helm 4, katomik and plain server-side apply on a control plane of its own, and prints the measured table of
// docs/comparison.md. `--changes 10,100,200` and `--rounds 5` set what is timed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildKubectl } from '../test/controlplane/build.ts';
import { buildHelm } from '../test/tools/helm/helm.ts';
import { buildKatomik } from '../test/tools/katomik/katomik.ts';
import { startWorld } from './bench/world.ts';
import type { Site } from './compare/tools.ts';
import { freeze, measureFailed, measureHotfix, measureKilled, measureTimes, type Row, toolNames } from './compare/trials.ts';
import { createUndo } from './demo/undo.ts';
import { writePackage } from './pack-cli/package.ts';

const undo = createUndo();
process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { changes: { type: 'string', default: '10,100,200' }, rounds: { type: 'string', default: '5' } },
  });
  const counts = values.changes.split(',').map(Number);
  try {
    const site = await openSite();
    const rows: Row[] = [];
    for (const count of counts) rows.push(await measureTimes(site, count, Number(values.rounds)));
    rows.push(await measureKilled(site, Math.max(...counts)));
    await freeze(site);
    rows.push(...(await measureFailed(site)), await measureHotfix(site));
    process.stdout.write(tableOf(rows));
    return 0;
  } catch (error) {
    process.stderr.write(`The comparison failed: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    await undo.run();
  }
}

async function openSite(): Promise<Site> {
  const report = (line: string): void => void process.stderr.write(`${line}\n`);
  const [helm, katomik, kubectl] = [await buildHelm(report), await buildKatomik(report), await buildKubectl(report)];
  const world = await startWorld(undo);
  const folder = mkdtempSync(join(tmpdir(), 'janus-compare-'));
  undo.add(async () => rmSync(folder, { recursive: true, force: true }));
  const packed = mkdtempSync(join(tmpdir(), 'janus-compare-cli-'));
  undo.add(async () => rmSync(packed, { recursive: true, force: true }));
  await writePackage(packed);
  const { label } = await world.engine('janus', 'tuned');
  return { world, folder, helm, katomik, kubectl, janus: join(packed, 'bin', 'janus.js'), label };
}

function tableOf(rows: readonly Row[]): string {
  // What was found as in the row above is said once.
  const lines = rows.map(({ question, cells, how }, index) => [question, ...cells, how === rows[index - 1]?.how ? '' : how]);
  const head = ['', ...toolNames, 'how it was found'];
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
