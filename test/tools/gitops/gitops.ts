// What Argo CD runs, from the modules pinned in go.mod: gopher-lua for health checks and actions, and the engine of its notifications.
import { join } from 'node:path';
import { buildTools, type ReportLine, type Tools } from '../build.ts';

const tools: Tools = {
  directory: import.meta.dirname,
  name: 'gitops',
  title: 'Lua and notifications of Argo CD for tests',
  cost: '20 seconds on 2 cores beside Prometheus, 3 minutes alone',
  flags: ['-ldflags', '-s -w'],
};

interface GitopsBinaries {
  /** The interpreter. */
  readonly lua: string;
  /** `argocd admin notifications`. */
  readonly notifications: string;
}

export async function buildGitops(report: ReportLine): Promise<GitopsBinaries> {
  const directory = await buildTools(tools, report);
  return { lua: join(directory, 'glua'), notifications: join(directory, 'notifications') };
}
