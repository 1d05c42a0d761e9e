// Prometheus with promtool, and Alertmanager with amtool, from the module pinned in go.mod: no web interface, no service discoveries but static and files.
import { join } from 'node:path';
import { buildTools, type ReportLine, type Tools } from '../build.ts';

const names = ['prometheus', 'promtool', 'alertmanager', 'amtool'] as const;

export type PrometheusBinaries = Readonly<Record<(typeof names)[number], string>>;

const tools: Tools = {
  directory: import.meta.dirname,
  name: 'prometheus',
  title: 'Prometheus for tests',
  cost: 'about 2 minutes on 2 cores, plus the downloads of modules',
  flags: ['-tags', 'remove_all_sd', '-ldflags', '-s -w'],
};

export async function buildPrometheus(report: ReportLine): Promise<PrometheusBinaries> {
  const directory = await buildTools(tools, report);
  return Object.fromEntries(names.map((name) => [name, join(directory, name)])) as PrometheusBinaries;
}
