// Fills packaging/krew.yaml for a version, with the sums of the archives of the self-contained program.
import { createHash } from 'node:crypto';
import { nameOfArchive, platforms } from '../pack-cli/platforms.ts';

/** `template`: the text of packaging/krew.yaml. Throws one sentence if an archive is missing. */
export function krewManifest(template: string, version: string, archives: ReadonlyMap<string, Buffer>): string {
  const values = new Map([['version', `v${version}`]]);
  for (const platform of platforms) {
    const bytes = archives.get(nameOfArchive(platform));
    if (bytes === undefined)
      throw new Error(`${nameOfArchive(platform)} is missing: make it on that platform by npm run pack:binary.`);
    values.set(platform, createHash('sha256').update(bytes).digest('hex'));
  }
  const [, ...lines] = template.split('\n');
  return lines.join('\n').replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values.get(name) ?? `no ${name}`);
}
