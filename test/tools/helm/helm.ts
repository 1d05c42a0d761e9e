// Helm, from the module pinned in go.mod.
import { join } from 'node:path';
import { buildTools, type ReportLine, type Tools } from '../build.ts';

const tools: Tools = {
  directory: import.meta.dirname,
  name: 'helm',
  title: 'Helm',
  cost: 'about 2 minutes on 2 cores',
  flags: ['-ldflags', '-s -w'],
};

/** Gives the path of the program. */
export async function buildHelm(report: ReportLine): Promise<string> {
  return join(await buildTools(tools, report), 'helm');
}
