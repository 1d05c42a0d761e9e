// The oldest Node that the packed command line supports (package.json, engines), pinned by package-lock.json here. It is no dependency of
// the project: two packages with a program `node` would contend for the name.
import { join } from 'node:path';
import type { ReportLine } from '../build.ts';
import { installPackages } from '../npm.ts';

/** Gives its path; downloads it (40 MB) when it is not in the cache. */
export function installOldestNode(report: ReportLine): Promise<string> {
  const program = join('node_modules', 'node', 'bin', 'node');
  const title = 'The oldest Node that the command line supports';
  return installPackages({ directory: import.meta.dirname, name: 'oldest-node', title, program }, report);
}
