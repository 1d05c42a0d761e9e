// The registry of the Distribution project, from the module pinned in go.mod.
import { join } from 'node:path';
import { buildTools, type ReportLine, type Tools } from '../build.ts';

const tools: Tools = {
  directory: import.meta.dirname,
  name: 'registry',
  title: 'The registry for tests',
  cost: 'less than a minute on 2 cores',
  flags: ['-ldflags', '-s -w'],
};

/** The path of the program. */
export async function buildRegistry(report: ReportLine): Promise<string> {
  return join(await buildTools(tools, report), 'distribution');
}
