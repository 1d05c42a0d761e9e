// The self-contained program of this machine: made, unpacked, and started without a Node.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { nameOfArchive, platforms } from '../../scripts/pack-cli/platforms.ts';
import { deletion, startServer } from '../cli/here.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'janus-binary-'));
t.teardown(() => rmSync(folder, { recursive: true }));
const printed = execFileSync(process.execPath, ['scripts/pack-binary.ts', folder], { cwd: root, encoding: 'utf8' });
const here = join(t.testdir({}), 'unpacked');
const archive = platforms.map((platform) => join(folder, nameOfArchive(platform))).find((path) => printed.includes(path)) ?? '';
execFileSync('sh', ['-c', `mkdir "$0" && tar -xzf "$1" -C "$0" && rm "$2"`, here, archive, join(folder, 'kubectl-janus')]);

/** Without PATH: nothing else can be started. */
async function run(words: readonly string[], { program = 'kubectl-janus', server = 'https://127.0.0.1:1' } = {}) {
  const config = {
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    ...{ users: [{ name: 'u', user: { token: 'a' } }], 'current-context': 'c' },
  };
  writeFileSync(join(here, 'config'), JSON.stringify(config));
  const child = spawn(join(here, program), words, { cwd: here, env: { KUBECONFIG: join(here, 'config') } });
  t.teardown(() => child.kill('SIGKILL'));
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, out, err };
}

t.test('the script prints sizes and the time of a start; the archive has the program and the licences', async (t) => {
  t.match(printed, /kubectl-janus \d+ bytes\n.*\.tar\.gz \d+ bytes\n.* --version takes \d+ ms\n$/);
  t.equal(statSync(join(here, 'kubectl-janus')).mode & 0o777, 0o755);
  const names = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n');
  t.same(names, ['kubectl-janus', 'LICENSE', 'LICENSES.md', 'LICENSE-node']);
});

t.test('it has the name by which it is called', async (t) => {
  const version = /^\d+\.\d+\.\d+\n$/;
  t.match(await run(['--version']), { code: 0, out: version, err: '' });
  t.match(await run(['lst']), { code: 64, err: /^kubectl janus: unknown command 'lst' / });
  symlinkSync('kubectl-janus', join(here, 'janus'));
  t.match(await run(['lst'], { program: 'janus' }), { code: 64, err: /^janus: / });
  symlinkSync('kubectl-janus', join(here, 'kubectl_complete-janus'));
  t.match(await run(['rend'], { program: 'kubectl_complete-janus' }), { code: 0, out: /^render/ });
});

t.test('it reads manifests, and speaks to an API server', async (t) => {
  writeFileSync(join(here, 'tx.yaml'), JSON.stringify(deletion));
  t.match(await run(['lint', '-f', 'tx.yaml']), { code: 0, err: '' });
  t.match(await run(['list']), { code: 1, err: /^kubectl janus: https:\/\/127\.0\.0\.1:1 gives no answer / });
  const server = await startServer(t, (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ kind: 'TransactionList', apiVersion: 'tx.janus.io/v1alpha1', metadata: {}, items: [] }));
  });
  t.match(await run(['list', '-n', 'shop', '-o', 'json'], { server }), { code: 0, out: /"items": ?\[\]/, err: '' });
});
