// What makes and checks packages beside the project itself, from the modules pinned in go.mod: the library of constraints, and a
// small registry and a producer of packages on the library that Crossplane's own builder uses.
import { join } from 'node:path';
import { buildTools, type ReportLine, type Tools } from '../build.ts';

interface PackageBinaries {
  /** Evaluates pairs of constraint and version. */
  readonly oracle: string;
  /** Makes packages and pushes them. */
  readonly producer: string;
  /** The second registry. */
  readonly registry: string;
}

const tools: Tools = {
  directory: import.meta.dirname,
  name: 'packages',
  title: 'What makes and checks packages for tests',
  cost: 'some 10 seconds on 2 cores',
  flags: ['-ldflags', '-s -w'],
};

export async function buildPackages(report: ReportLine): Promise<PackageBinaries> {
  const directory = await buildTools(tools, report);
  return {
    oracle: join(directory, 'oracle'),
    producer: join(directory, 'producer'),
    registry: join(directory, 'registry'),
  };
}
