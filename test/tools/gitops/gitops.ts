// gopher-lua, which Argo CD runs health checks and actions by, from the module pinned in go.mod.
import { join } from 'node:path';
import { buildTools, type ReportLine, type Tools } from '../build.ts';

const tools: Tools = {
  directory: import.meta.dirname,
  name: 'gitops',
  title: 'The Lua of Argo CD for tests',
  cost: 'some seconds',
  flags: ['-ldflags', '-s -w'],
};

/** Gives the path of the interpreter. */
export async function buildLua(report: ReportLine): Promise<string> {
  return join(await buildTools(tools, report), 'glua');
}
