// Installs a package.json with its lock into the user's cache, once for each content of the two, from the registry that npm is configured for.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { inCache, publish, type ReportLine, removeAbandoned } from './build.ts';

interface Installed {
  /** The folder of package.json and package-lock.json. */
  readonly directory: string;
  /** Begins the name of the cache directory. */
  readonly name: string;
  /** What is installed, as the subject of a sentence. */
  readonly title: string;
  /** A file that an installation has, below its folder. */
  readonly program: string;
}

const optional = '.npmrc';

/** Returns the path of the program. */
export async function installPackages(packages: Installed, report: ReportLine): Promise<string> {
  const { directory, name, program } = packages;
  const files = ['package.json', 'package-lock.json', optional].filter((file) => existsSync(join(directory, file)));
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(directory, file))).update('\0');
  const into = inCache(`${name}-${process.platform}-${process.arch}-${hash.digest('hex').slice(0, 16)}`);
  if (!existsSync(into)) await install(packages, { files, into }, report);
  return join(into, program);
}

interface Place {
  readonly files: readonly string[];
  readonly into: string;
}

async function install({ directory, title, program }: Installed, { files, into }: Place, report: ReportLine): Promise<void> {
  report(`${title} is installed into ${into}.`);
  mkdirSync(dirname(into), { recursive: true });
  removeAbandoned(into);
  const unfinished = mkdtempSync(`${into}.building-`);
  try {
    for (const file of files) copyFileSync(join(directory, file), join(unfinished, file));
    await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: unfinished });
    if (!existsSync(join(unfinished, program)))
      throw new Error(`npm ci left no ${program}: install scripts seem to be switched off; allow them for this package.`);
    publish(unfinished, into);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
