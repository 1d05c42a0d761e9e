// kustomize, which renders what `kubectl apply -k` applies, and actionlint, from the modules pinned in go.mod.
import { join } from 'node:path';
import { buildTools, type ReportLine, type Tools } from '../build.ts';

interface PackagingBinaries {
  readonly kustomize: string;
  readonly actionlint: string;
}

const tools: Tools = {
  directory: import.meta.dirname,
  name: 'packaging',
  title: 'What renders and checks manifests for tests',
  cost: 'about 1 minute on 2 cores',
  flags: ['-ldflags', '-s -w'],
};

export async function buildPackaging(report: ReportLine): Promise<PackagingBinaries> {
  const directory = await buildTools(tools, report);
  return { kustomize: join(directory, 'kustomize'), actionlint: join(directory, 'actionlint') };
}
