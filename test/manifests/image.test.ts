// The image, as far as it can be judged without a container engine: what the Dockerfile copies is all that the hook needs.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const dockerfile = read('Dockerfile');
/** The stage that becomes the hook's image: the last one, which a build makes where no target is named. */
const hook = dockerfile.split(/^FROM /m).at(-1) ?? '';
const manifest = JSON.parse(read('package.json'));
const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));

t.test('its Node is the one that the suite runs on', async (t) => {
  const bases = [...dockerfile.matchAll(/^FROM node:(\S+?)-alpine/gm)].map(([, version]) => version);
  t.same(new Set(bases), new Set([manifest.devDependencies.node]));
});

t.test('it runs as a user without rights, from dependencies whose scripts were not run', async (t) => {
  t.match(dockerfile, /^USER 1000:1000$/m);
  t.match(dockerfile, /npm ci --omit=dev --ignore-scripts/);
});

t.test('what is installed with Node and not needed to run is not in it', async (t) => {
  t.match(hook, /^scratch\nCOPY --from=runtime \/ \/\n/);
  for (const path of ['lib/node_modules', 'bin/npm', 'bin/npx', 'bin/corepack', 'bin/yarn'])
    t.match(dockerfile, `/usr/local/${path}`);
});

t.test('.dockerignore lets in what is copied, and nothing else', async (t) => {
  const admitted = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  t.same(new Set(admitted), new Set(copied));
});

t.test('what is copied, with the dependencies, is a program', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'janus-image-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  for (const path of copied) cpSync(join(root, path), join(directory, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  const env = { PORT: 'none', NODE_COMPILE_CACHE: join(directory, '.compiled') };
  const run = (file: string) => spawnSync(process.execPath, [file], { cwd: directory, env, encoding: 'utf8' });
  const { status, stdout, stderr } = run('server/main.ts');
  t.equal(status, 1);
  t.match(stdout + stderr, /PORT/, 'it runs as far as finding its configuration wrong');
  t.ok(existsSync(join(directory, '.compiled')), 'which is enough for the image to hold it compiled');
  for (const thread of ['server/expressions/worker.ts', 'server/yaml-worker.ts']) {
    t.match(dockerfile, `node ${thread}`);
    t.equal(run(thread).status, 0, `${thread} is loaded, and ends`);
  }
});

// Node keeps what it compiled in a folder whose name ends with the uid: what root compiled, nobody else reads.
t.test('what the user that runs compiled, a start of that user reads, though it may write nowhere', async (t) => {
  const [before = '', after = ''] = hook.split(/^USER 1000:1000$/m);
  t.notMatch(before, /^RUN node /m, 'root compiles nothing');
  t.match(after, /^RUN node server\/main.ts/m);
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: 1000, gid: 1000 } : {};
  const directory = mkdtempSync(join(tmpdir(), 'janus-image-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const path of [...copied, 'node_modules']) cpSync(join(root, path), join(directory, path), { recursive: true });
  cpSync(process.execPath, join(directory, 'node'));
  const cache = join(directory, '.compiled');
  mkdirSync(cache);
  if (isRoot) chownSync(cache, 1000, 1000);
  chmodSync(directory, 0o755);
  const run = (env: Readonly<Record<string, string>> = {}) =>
    spawnSync(join(directory, 'node'), ['server/main.ts'], {
      cwd: directory,
      env: { PORT: 'none', NODE_COMPILE_CACHE: cache, ...env },
      encoding: 'utf8',
      ...user,
      maxBuffer: 1e8,
    });
  t.equal(run().status, 1);
  t.ok(globSync(`*-${user.uid ?? process.getuid?.()}`, { cwd: cache }).length === 1);
  for (const file of globSync('**', { cwd: cache })) chmodSync(join(cache, file), 0o555);
  chmodSync(cache, 0o555);
  const { stdout, stderr } = run({ NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
  t.match(stdout + stderr, /retrieving transpile cache for StrippedTypeScript file:\S+server\/main\.ts\.\.\.success/);
});

t.test('it is started as by npm start', async (t) => {
  const [, command = '[]'] = /^CMD (.+)$/m.exec(dockerfile) ?? [];
  t.equal(JSON.parse(command).join(' '), manifest.scripts.start);
});

t.test('what it imports is among the dependencies that are installed', async (t) => {
  const files = ['server', 'hooks', 'schemas'].flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }));
  const imports = files.flatMap((file) => [...read(file).matchAll(/^import (?!type).*? from '([^.'][^']*)'/gms)]);
  const packages = imports.map(([, name = '']) => name).filter((name) => !name.startsWith('node:'));
  t.ok(packages.length > 4);
  const packageOf = (name: string): string =>
    name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/');
  t.same(
    packages.filter((name) => !Object.hasOwn(manifest.dependencies, packageOf(name))),
    [],
  );
});
