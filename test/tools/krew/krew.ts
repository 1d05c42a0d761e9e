// The validator of krew's index, from the module pinned in go.mod.
import { join } from 'node:path';
import { buildTools, type ReportLine, type Tools } from '../build.ts';

const tools: Tools = {
  directory: import.meta.dirname,
  name: 'krew',
  title: 'What validates manifests of krew for tests',
  cost: 'about 1 minute on 2 cores',
  flags: ['-ldflags', '-s -w'],
};

/** Resolves with the path of `validate-krew-manifest`. */
export async function buildKrew(report: ReportLine): Promise<string> {
  return join(await buildTools(tools, report), 'validate-krew-manifest');
}
