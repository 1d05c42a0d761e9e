// What the demo says before it does anything: what comes, how long it takes, and where its control plane comes from.
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { importsOf } from '../support/sources.ts';

const root = join(import.meta.dirname, '../..');

t.test('before its first lines it loads nothing but files of its own', async (t) => {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    // Types are stripped, and what is awaited is loaded later.
    const text = readFileSync(join(root, path), 'utf8').replaceAll(/^import type .*|await import\(.*\)/gm, '');
    const source = { path, text };
    for (const { target, isPackage } of importsOf(source)) {
      if (isPackage) t.match(target, /^node:/, `${path} imports ${target}`);
      else visit(target);
    }
  };
  visit('scripts/demo.ts');
  t.ok(seen.has('scripts/demo/options.ts'));
  t.notOk(seen.has('scripts/demo/run.ts'), 'which is loaded after them');
});

t.test('the announcement of a first build names its cost, and a command without a build', async (t) => {
  const folder = t.testdir({ etcd: '', 'kube-apiserver': '' });
  for (const name of ['etcd', 'kube-apiserver']) chmodSync(join(folder, name), 0o755);
  const run = (env: Readonly<Record<string, string>>) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/demo.ts'], {
      cwd: root,
      env: { PATH: folder, HOME: folder, ...env },
      encoding: 'utf8',
    });
    return { status, said: stdout.replaceAll(/\s+/g, ' '), stderr };
  };
  const first = run({ KUBEBUILDER_ASSETS: folder });
  t.equal(first.status, 1, 'there is no Go');
  t.match(first.said, 'Four acts, in about half a minute');
  t.match(first.said, '7 to 9 minutes on 2 cores');
  t.match(first.said, `KUBEBUILDER_ASSETS, ${folder}, is not used: it has no kube-controller-manager`);
  t.match(first.stderr, 'found: none on PATH');
  const named = run({ JANUS_CONTROL_PLANE: folder });
  t.equal(named.status, 1);
  t.notMatch(named.said, '9 minutes');
  t.match(named.stderr, `found no kube-controller-manager in ${folder}; add what is missing, or unset the variable.`);
});
