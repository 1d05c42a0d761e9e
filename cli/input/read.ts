// Reads the manifests that a command line names: files, folders, URLs, standard input, or a folder that kustomize builds.
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isObject, type JsonObject } from '../../hooks/objects/json.ts';
import { readYaml, Unfit } from '../../server/yaml.ts';
import { type Io, refuseInterrupted, unlessAborted } from '../io.ts';
import { Problem, wrongUse } from '../problem.ts';
import { attempt, filesAt } from './folders.ts';
import { unrolled } from './lists.ts';
import { boundedBytes, readPath } from './streams.ts';
import { isUrl, readUrl, shownUrl } from './urls.ts';

export interface Sources {
  /** Files, folders and URLs; `-` is standard input. */
  readonly files: readonly string[];
  /** Whether to read subfolders, too. */
  readonly recursive: boolean;
  /** A folder with a kustomization. */
  readonly kustomize: string | undefined;
}

export interface Source {
  /** For messages: a path, or `standard input`. */
  readonly name: string;
  readonly text: string;
}

export interface Manifest {
  readonly source: string;
  readonly object: JsonObject;
  /** 0 if it is absent (waves.ts). */
  readonly wave?: number;
}

const bounds = { levels: 200, values: 2_000_000, characters: 64 * 1024 * 1024 };

/** All objects in their order, with Lists unrolled. There is at least one. Throws a Problem. */
export async function readManifests(sources: Sources, io: Io): Promise<readonly Manifest[]> {
  const found = (await readSources(sources, io)).flatMap(manifestsIn);
  if (found.length > 0) return found;
  throw new Problem('The input holds no manifests: name files that hold Kubernetes objects.');
}

/** The unparsed texts. Throws a Problem. */
export async function readSources(sources: Sources, io: Io): Promise<readonly Source[]> {
  // The variable of a script may be unset. An empty path would mean the present folder.
  if ([...sources.files, sources.kustomize].includes('')) throw wrongUse('-f and -k need a path; found "".');
  if (sources.kustomize !== undefined && sources.files.length > 0)
    throw wrongUse('Give either -f or -k, not both: kustomize reads its files itself.');
  if (sources.kustomize !== undefined) return [await kustomized(sources.kustomize, io)];
  if (sources.files.length === 0)
    throw wrongUse('Name the manifests: -f FILE, -f FOLDER, -f URL, -f - for standard input, or -k FOLDER.');
  const found = sources.files.map((file) =>
    file === '-' || isUrl(file) ? { files: [file], unfit: [] } : filesAt(resolve(io.folder, file), sources.recursive),
  );
  const unfit = found.flatMap((one) => one.unfit);
  if (unfit.length > 0)
    throw new Problem(`${unfit.join(', ')}: janus reads only regular files. Name the files, or remove the others.`);
  return Promise.all(found.flatMap(({ files }) => files).map((path) => read(path, io)));
}

async function read(path: string, io: Io): Promise<Source> {
  if (path === '-') return readInput(io);
  if (isUrl(path)) return readAt(path, io);
  const { size } = attempt(path, () => statSync(path));
  if (size > bounds.characters)
    throw new Problem(`${path} takes ${Math.round(size / 1_000_000)} MB, and manifests may take 64 MiB: apply it in parts.`);
  const bytes = await readPath(path, { bytes: bounds.characters, signal: io.interrupted });
  refuseInterrupted(io);
  return { name: path, text: textOf(path, bytes) };
}

async function readAt(url: string, io: Io): Promise<Source> {
  const bytes = await readUrl(url, { bytes: bounds.characters, signal: io.interrupted });
  refuseInterrupted(io);
  return { name: shownUrl(url), text: textOf(shownUrl(url), bytes) };
}

async function readInput(io: Io): Promise<Source> {
  const bytes = await unlessAborted(boundedBytes('standard input', io.stdin, bounds.characters), io.interrupted);
  refuseInterrupted(io);
  return { name: 'standard input', text: textOf('standard input', bytes ?? Buffer.of()) };
}

/** Throws a Problem for other bytes. A lenient decoder would replace them, also in a password, without a warning. */
function textOf(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Problem(`${name} is not UTF-8, as YAML and JSON must be: convert it.`);
  }
}

/** The objects in one text, Lists unrolled. Throws a Problem. */
export function manifestsIn({ name, text }: Source): readonly Manifest[] {
  const documents = parsed(name, text).filter((document) => document !== null);
  return documents.flatMap(unrolled).map((object) => {
    if (isObject(object)) return { source: name, object };
    throw new Problem(`${name} holds a document or an item of a List that is not an object: each must have apiVersion and kind.`);
  });
}

function parsed(name: string, text: string) {
  try {
    return readYaml(text, bounds);
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    const next = text.includes('{{') ? 'if it is a template, such as of a Helm chart, render it first' : 'correct it';
    throw new Problem(`${name} ${error.message}: ${next}.`);
  }
}

const builders = [
  ['kustomize', 'build'],
  ['kubectl', 'kustomize'],
] as const;

async function kustomized(folder: string, io: Io): Promise<Source> {
  const path = resolve(io.folder, folder);
  for (const [program, ...args] of builders) {
    const output = await outputOf(program, [...args, path], io);
    if (output !== undefined) return { name: `kustomization ${folder}`, text: textOf(`kustomization ${folder}`, output) };
  }
  throw new Problem('-k needs kustomize or kubectl on the PATH: install one, or give its output to -f -.');
}

/** Undefined if there is no such program. */
function outputOf(program: string, args: readonly string[], io: Io): Promise<Uint8Array | undefined> {
  return new Promise((done, fail) => {
    const child = spawn(program, [...args], { env: { ...io.env }, cwd: io.folder, stdio: ['ignore', 'pipe', 'inherit'] });
    const output = buffer(child.stdout);
    child.on('error', () => done(undefined));
    child.on('close', (code) => {
      if (code === 0) output.then(done, fail);
      else fail(new Problem(`${program} ${args.join(' ')} ended with ${code}: correct the kustomization.`));
    });
  });
}
