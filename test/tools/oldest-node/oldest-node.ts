// The oldest Node that the packed command line supports (package.json, engines), from the registry that npm is configured for, pinned by
// package-lock.json here. It is no dependency of the project: two packages with a program `node` would contend for the name.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { inCache, publish, type ReportLine, removeAbandoned } from '../build.ts';

const files = ['package.json', 'package-lock.json', '.npmrc'];
const program = join('node_modules', 'node', 'bin', 'node');
const { platform, arch } = process;

/** Gives its path; downloads it (40 MB) when it is not in the cache. */
export async function installOldestNode(report: ReportLine): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(import.meta.dirname, file))).update('\0');
  const directory = inCache(`oldest-node-${platform}-${arch}-${hash.digest('hex').slice(0, 16)}`);
  if (!existsSync(directory)) await install(directory, report);
  return join(directory, program);
}

async function install(directory: string, report: ReportLine): Promise<void> {
  report(`The oldest Node that the command line supports is installed into ${directory}.`);
  mkdirSync(dirname(directory), { recursive: true });
  removeAbandoned(directory);
  const unfinished = mkdtempSync(`${directory}.building-`);
  try {
    for (const file of files) copyFileSync(join(import.meta.dirname, file), join(unfinished, file));
    await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: unfinished });
    if (!existsSync(join(unfinished, program)))
      throw new Error('npm ci left no Node: install scripts seem to be switched off; allow them for the package node.');
    publish(unfinished, directory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
