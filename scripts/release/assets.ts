// Makes the assets of a release, without the image. They depend only on this folder, and are reproducible.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { stringify } from 'yaml';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { chartFiles } from '../chart-files.ts';

const root = join(import.meta.dirname, '../..');

/** Contents by the names of files. */
export type Assets = ReadonlyMap<string, Buffer>;

interface Sources {
  /** Without `v`. */
  readonly version: string;
  readonly changelog: string;
  /** The objects of a kustomization. */
  readonly render: (folder: string) => readonly JsonObject[];
  /** Paths of the chart's files, in its folder. */
  readonly chart: readonly string[];
  /** The package of the command line, by its name. */
  readonly commandLine: Assets;
}

/** Throws one sentence if a file is missing. */
export async function makeAssets({ version, changelog, render, chart, commandLine }: Sources): Promise<Assets> {
  const notes = notesOf(changelog, version);
  const missing = Object.keys(chartFiles).find((path) => !chart.includes(path));
  if (missing !== undefined) throw new Error(`charts/janus has no ${missing}: run npm run generate.`);
  const assets = new Map([
    ['install.yaml', yamlOf(render('manifests'))],
    ['install-with-metacontroller.yaml', yamlOf(render('examples/confined'))],
    [`janus-${version}.tgz`, await chartOf(chart)],
    ['release-notes.md', Buffer.from(notes)],
    ...commandLine,
  ]);
  return new Map([...assets, ['checksums.txt', checksumsOf(assets)]]);
}

/** The section of a version in CHANGELOG.md. */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((section) => section.startsWith(`[${version}]`));
  if (found === undefined) throw new Error(`CHANGELOG.md has no entry "## [${version}]": write what changed in this version.`);
  return `${found.slice(found.indexOf('\n')).trim()}\n`;
}

function yamlOf(objects: readonly JsonObject[]): Buffer {
  const text = objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })).join('---\n');
  return Buffer.from(text);
}

// Packs the chart as Helm does, but without times and owners.
async function chartOf(paths: readonly string[]): Promise<Buffer> {
  const archive = pack();
  for (const path of [...paths].sort())
    archive.entry({ name: `janus/${path}`, mtime: new Date(0), mode: 0o644 }, readFileSync(join(root, 'charts/janus', path)));
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return gzipSync(Buffer.concat(chunks), { level: 9 });
}

/** For `sha256sum --check`. */
function checksumsOf(assets: Assets): Buffer {
  const lines = [...assets].map(([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`);
  return Buffer.from(lines.sort().join(''));
}
