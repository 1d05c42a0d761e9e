// Prometheus and promtool, from the module pinned in go.mod: no web interface, no service discoveries but static and files.
import { join } from 'node:path';
import { buildTools, type ReportLine, type Tools } from '../build.ts';

export interface PrometheusBinaries {
  readonly prometheus: string;
  readonly promtool: string;
}

const tools: Tools = {
  directory: import.meta.dirname,
  name: 'prometheus',
  title: 'Prometheus for tests',
  cost: 'about 2 minutes on 2 cores, plus the downloads of modules',
  flags: ['-tags', 'remove_all_sd', '-ldflags', '-s -w'],
};

export async function buildPrometheus(report: ReportLine): Promise<PrometheusBinaries> {
  const directory = await buildTools(tools, report);
  return { prometheus: join(directory, 'prometheus'), promtool: join(directory, 'promtool') };
}
