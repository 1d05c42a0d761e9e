// The image, as far as it can be judged without a container engine: what the Dockerfile copies is all that the hook needs.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { namingNode, withNode } from '../../scripts/node-versions.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const dockerfile = read('Dockerfile');
/** The stage that becomes the hook's image: the last one, which a build makes where no target is named. */
const hook = dockerfile.split(/^FROM /m).at(-1) ?? '';
const manifest = JSON.parse(read('package.json'));
const [, command = '[]'] = /^CMD (.+)$/m.exec(hook) ?? [];
const [program = '', ...flagsAndMain] = JSON.parse(command) as readonly string[];
/** What the image compiles by, as the shell of its build gets it. */
const [, compilation = ''] = /^RUN (flags=(?:.*\\\n)*.*)$/m.exec(hook) ?? [];
const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));

t.test('the image has the Node that the suite runs on', async (t) => {
  const bases = [...dockerfile.matchAll(/^FROM node:(\S+?)-alpine/gm)].map(([, version]) => version);
  const [version] = bases;
  const follow = `npm install --save-dev --save-exact node@${version} && npm run generate`;
  t.same(new Set(bases), new Set([manifest.devDependencies.node]), follow);
  for (const path of namingNode) {
    t.equal(withNode(path, read(path), manifest.devDependencies.node), read(path), `${path}: npm run generate`);
    t.not(withNode(path, read(path), '99.9.9'), read(path));
    t.match(withNode(path, read(path), '99.8.7'), /\b99\.8(\.7)?\b/);
  }
  t.throws(() => withNode('README.md', 'no table', '99.9.9'), /README\.md: expected a version of Node/);
});

t.test('one update renews the base, and CONTRIBUTING.md says how the rest follows', async (t) => {
  const { updates } = parse(read('.github/dependabot.yml'));
  const of = (ecosystem: string) => updates.find((one: JsonObject) => one['package-ecosystem'] === ecosystem);
  t.same(of('npm').ignore, [{ 'dependency-name': 'node' }]);
  t.ok(of('docker'));
  t.match(read('CONTRIBUTING.md'), /npm install --save-dev --save-exact node@X\.Y\.Z && npm run generate/);
});

t.test('the image runs as a user without rights, from dependencies whose scripts were not run', async (t) => {
  t.match(dockerfile, /^USER 1000:1000$/m);
  t.match(dockerfile, /npm ci --omit=dev --ignore-scripts/);
});

t.test('the image omits tools of Node that it does not need', async (t) => {
  t.match(hook, /^scratch\nCOPY --from=runtime \/ \/\n/);
  for (const path of ['lib/node_modules', 'bin/npm', 'bin/npx', 'bin/corepack', 'bin/yarn'])
    t.match(dockerfile, `/usr/local/${path}`);
});

t.test('the image contains no file of the command line', async (t) => {
  t.match(dockerfile, /^COPY cli cli$/m, 'which another stage packs');
  const sources = [...hook.matchAll(/^COPY (?:--from=(\S+) )?(.+) \S+$/gm)].map(([, stage, paths]) => stage ?? paths);
  t.same(sources, ['runtime', 'dependencies', 'package.json LICENSE', 'schemas', 'hooks', 'server']);
});

t.test('the labels of the image name its title and its sources', async (t) => {
  const labels = [...hook.matchAll(/org\.opencontainers\.image\.(\w+)="(.*?)"/g)].map(([, name, value]) => [name, value]);
  const page = 'https://github.com/janus-io/janus-on-metacontroller';
  t.match(Object.fromEntries(labels), {
    title: /./,
    description: /./,
    source: page,
    documentation: manifest.homepage,
    licenses: manifest.license,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the arguments of the build
    version: '${VERSION}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
    revision: '${REVISION}',
  });
  t.match(hook, /^ARG VERSION=\d/m);
});

t.test('.dockerignore admits only the copied files', async (t) => {
  const admitted = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  t.same(new Set(admitted), new Set(copied));
});

/** The folder of the image: the sources that it copies, and the packages that its build leaves. */
function makeImage(): string {
  const directory = mkdtempSync(join(tmpdir(), 'janus-image-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const { packages } = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, JsonObject>> };
  const installed = Object.keys(packages).filter((path) => path !== '' && packages[path]?.dev !== true);
  for (const path of [...installed, 'package.json', 'package-lock.json'])
    if (existsSync(join(root, path))) cpSync(join(root, path), join(directory, path), { recursive: true });
  const [, uninstall = ''] = /^RUN (npm uninstall .*)$/m.exec(dockerfile) ?? [];
  const { status, stderr } = spawnSync('sh', ['-c', uninstall], { cwd: directory, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${uninstall}: ${stderr}`);
  for (const path of copied) cpSync(join(root, path), join(directory, path), { recursive: true });
  return directory;
}

const image = makeImage();

t.test('the packages that only a kubeconfig needs are not in the image, and nothing else needs them', async (t) => {
  t.notOk(existsSync(join(image, 'node_modules/@kubernetes/client-node')));
  const needing = /(?:^server\/main|worker|\/kubeconfig[\w-]*)\.ts$/;
  const files = globSync('{server,hooks,schemas}/**/*.ts', { cwd: image }).filter((path) => !needing.test(path));
  t.ok(files.length > 400);
  const program = `for (const file of process.argv.slice(1)) await import('./' + file);`;
  const run = (env: NodeJS.ProcessEnv, ...args: readonly string[]) =>
    spawnSync(process.execPath, args, { cwd: image, env, encoding: 'utf8' });
  const loaded = run({}, '--input-type=module', '--eval', program, ...files);
  t.equal(loaded.status, 0, loaded.stderr);
  const refused = run({ KUBECONFIG: '/kubeconfig' }, 'server/main.ts');
  t.match(
    [refused.status, refused.stderr],
    [1, '- KUBECONFIG: expected client-node, which the image does not hold: run the hook in a Pod'],
  );
});

t.test('the copied files and the dependencies make a program', async (t) => {
  const directory = t.testdir({});
  const env = { PORT: 'none', NODE_COMPILE_CACHE: join(directory, '.compiled') };
  const run = (file: string) => spawnSync(process.execPath, [file], { cwd: image, env, encoding: 'utf8' });
  const { status, stdout, stderr } = run('server/main.ts');
  t.equal(status, 1);
  t.match(stdout + stderr, /PORT/, 'it runs as far as finding its configuration wrong');
  t.ok(existsSync(join(directory, '.compiled')), 'which is enough for the image to hold it compiled');
  for (const thread of ['server/expressions/worker.ts', 'server/yaml-worker.ts']) {
    t.match(compilation, `node $flags ${thread}`);
    t.equal(run(thread).status, 0, `${thread} is loaded, and ends`);
  }
});

// Node keeps what it compiled in a folder named by uid too: no other user reads the files that root compiled.
t.test('a start reads the compiled files of its user, although the user may write nowhere', async (t) => {
  const [before = '', after = ''] = hook.split(/^USER 1000:1000$/m);
  t.notMatch(before, /^RUN .*\bnode /m, 'root compiles nothing');
  t.ok(after.includes(compilation) && compilation !== '');
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: 1000, gid: 1000 } : {};
  const uid = String(user.uid ?? process.getuid?.());
  const directory = image;
  cpSync(process.execPath, join(directory, 'node'));
  const cache = join(directory, '.compiled');
  mkdirSync(cache);
  if (isRoot) chownSync(cache, 1000, 1000);
  chmodSync(directory, 0o755);
  const env = { PATH: `${directory}:/usr/bin:/bin`, NODE_COMPILE_CACHE: cache };
  const options = { cwd: directory, encoding: 'utf8', ...user, maxBuffer: 1e8 } as const;
  const compiled = spawnSync('sh', ['-c', compilation.replace('*-1000', `*-${uid}`)], { ...options, env });
  t.equal(compiled.status, 0, compiled.stderr);
  const folders = globSync('*', { cwd: cache });
  t.equal(folders.length, 1, 'the program and its threads, in one');
  t.match(folders[0], new RegExp(`-${uid}$`));
  for (const file of globSync('**', { cwd: cache })) chmodSync(join(cache, file), 0o555);
  chmodSync(cache, 0o555);
  const { stdout, stderr } = spawnSync(join(directory, program), flagsAndMain, {
    ...options,
    env: { ...env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
  });
  const output = stdout + stderr;
  t.match(output, /retrieving transpile cache for StrippedTypeScript file:\S+server\/main\.ts\.\.\.success/);
  t.match(output, /V8 code cache for ESM file:\S+server\/main\.ts was accepted/);
  t.notMatch(output, /V8 code cache for .* was rejected/);
  // The figures of docs/performance.md, which says how to take more starts than one.
  const starts = Number(process.env.JANUS_STARTS ?? 1);
  const fastest = (variables: NodeJS.ProcessEnv): number => {
    const times = Array.from({ length: starts }, () => {
      const begun = performance.now();
      spawnSync(join(directory, program), flagsAndMain, { ...options, env: variables });
      return performance.now() - begun;
    });
    return Math.round(Math.min(...times));
  };
  const { NODE_COMPILE_CACHE, ...without } = env;
  t.comment(`a start of uid ${uid}, in a folder that it may not write to, until its configuration is read:`);
  t.comment(`${fastest(env)} ms; ${fastest(without)} ms without what was compiled`);
  t.match(read('docs/performance.md'), '`JANUS_STARTS=5 node test/manifests/image.test.ts`');
});

// The sizes of its heap are no part of the name that V8 makes of its flags; most others are.
t.test('the image is compiled with the flags of its start', async (t) => {
  const [, flags] = /^flags="(.*?)"/.exec(compilation) ?? [];
  t.equal(flags, flagsAndMain.slice(0, -1).join(' '));
  t.equal(compilation.match(/node (?!\$flags )/g), null, 'each of them');
});

t.test('the image starts the hook as npm start does', async (t) => {
  t.equal([program, ...flagsAndMain].join(' '), manifest.scripts.start);
});

t.test('the image installs every dependency that it imports', async (t) => {
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
