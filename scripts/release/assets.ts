// Makes the assets of a release, without the image. They depend only on this folder, and are reproducible.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { chartArchive } from '../pack-chart/chart.ts';
import { krewManifest } from './krew.ts';

const root = join(import.meta.dirname, '../..');

/** Contents by the names of files. */
export type Assets = ReadonlyMap<string, Buffer>;

interface Sources {
  /** Without `v`. */
  readonly version: string;
  readonly changelog: string;
  /** The objects of a kustomization. */
  readonly render: (folder: string) => readonly JsonObject[];
  /** The package of the command line, by its name. */
  readonly commandLine: Assets;
  /** The archives of the self-contained programs, for each platform; none without them. */
  readonly binaries?: Assets;
}

/** Throws one sentence if a file is missing. */
export async function makeAssets({ version, changelog, render, commandLine, binaries }: Sources): Promise<Assets> {
  const notes = notesOf(changelog, version);
  const assets = new Map([
    ['install.yaml', yamlOf(render('manifests'))],
    ['install-with-metacontroller.yaml', yamlOf(render('examples/confined'))],
    [`janus-${version}.tgz`, await chartArchive()],
    ['release-notes.md', Buffer.from(notes)],
    ...commandLine,
    ...(binaries === undefined ? [] : [...binaries, ['janus.yaml', krewOf(version, binaries)] as const]),
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

function krewOf(version: string, binaries: Assets): Buffer {
  return Buffer.from(krewManifest(readFileSync(join(root, 'packaging/krew.yaml'), 'utf8'), version, binaries));
}

/** For `sha256sum --check`. */
function checksumsOf(assets: Assets): Buffer {
  const lines = [...assets].map(([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`);
  return Buffer.from(lines.sort().join(''));
}
