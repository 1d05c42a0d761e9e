// Without a Go that can build the control plane the message names the Go that was found, and the next step.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { removeAbandoned } from './build.ts';
import { isAtLeast, requiredGo } from './go.ts';

const controlPlane = join(import.meta.dirname, '..', 'controlplane');

t.test('versions are compared by number', async (t) => {
  t.ok(isAtLeast('go1.26.0', '1.26.0'));
  t.ok(isAtLeast('go1.26.8', '1.26.0'));
  t.ok(isAtLeast('go1.100.0', '1.26.0'));
  t.ok(isAtLeast('go2', '1.26.0'));
  t.notOk(isAtLeast('go1.9.7', '1.26.0'));
  t.notOk(isAtLeast('go1.25.12', '1.26.0'));
  t.notOk(isAtLeast('', '1.26.0'));
});

t.test('the least version is that of go.mod', async (t) => {
  t.match(requiredGo(controlPlane), /^1\.\d+\.\d+$/);
});

for (const [reason, script, found] of [
  ['no Go', undefined, 'none on PATH'],
  ['an old Go', '#!/bin/sh\necho go1.19.4\n', 'go1.19.4'],
  ['a Go that may not fetch a newer one', "#!/bin/sh\necho 'go: go.mod requires go >= 1.26.0' >&2\nexit 1\n", 'go.mod requires'],
] as const) {
  t.test(`${reason}: what to install`, async (t) => {
    const directory = t.testdir(script === undefined ? {} : { go: script });
    if (script !== undefined) chmodSync(join(directory, 'go'), 0o755);
    const env = { PATH: directory, XDG_CACHE_HOME: join(directory, 'cache') };
    const { status, stderr } = spawnSync(process.execPath, [join(controlPlane, 'main.ts')], { env, encoding: 'utf8' });
    t.equal(status, 1);
    t.ok(stderr.includes(`Go ${requiredGo(controlPlane)} or newer; found: `) && stderr.includes(found), stderr);
    t.match(stderr, /Install Go from https:\/\/go.dev\/dl\//);
  });
}

t.test('a build removes abandoned builds, and leaves a build that ends meanwhile', async (t) => {
  const directory = t.testdir({ 'tools-1.building-old': {}, 'tools-1.building-new': {} });
  const long = new Date(Date.now() - 2 * 86_400_000);
  utimesSync(join(directory, 'tools-1.building-old'), long, long);
  // Listed, and gone when it is looked at.
  symlinkSync(join(directory, 'nowhere'), join(directory, 'tools-1.building-renamed'));
  removeAbandoned(join(directory, 'tools-1'));
  t.notOk(existsSync(join(directory, 'tools-1.building-old')));
  t.ok(existsSync(join(directory, 'tools-1.building-new')));
});
