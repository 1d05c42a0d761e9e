// The generator of the documentation site, which scripts/site/package-lock.json pins. It is no dependency of the project: see
// docs/dependencies.md.
import { join } from 'node:path';
import type { ReportLine } from '../../test/tools/build.ts';
import { installPackages } from '../../test/tools/npm.ts';

/** Returns the path of its program. Downloads 100 MB if they are not in the cache. */
export function installGenerator(report: ReportLine): Promise<string> {
  const program = join('node_modules', 'vitepress', 'bin', 'vitepress.js');
  return installPackages({ directory: import.meta.dirname, name: 'site', title: 'VitePress', program }, report);
}
