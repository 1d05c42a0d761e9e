// `npm run dev`: the hook restarts when a source is saved, at the same address; Ctrl-C leaves nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { waitFor } from '../support/client.ts';

const root = join(import.meta.dirname, '..', '..');
const patient = { timeoutMs: 300_000 };

t.test('save, restart, Ctrl-C', async (t) => {
  const child = spawn(process.execPath, [join(root, 'scripts', 'dev.ts')], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes) => {
      output += String(bytes);
    });
  const seen = (pattern: RegExp) => waitFor(() => pattern.exec(output)?.[1], `${pattern} in:\n${output}`, patient);
  const address = await seen(/listens at (http:\S+)/);
  const kubeconfig = await seen(/export KUBECONFIG=(\S+)/);
  await seen(/(Ready: save)/);
  const now = new Date();
  utimesSync(join(root, 'server', 'clock.ts'), now, now);
  t.equal(await seen(/the hook runs again at (http:\S+)/), address);
  await waitFor(async () => (await fetch(`${address}/readyz`).catch(() => undefined))?.ok, 'the hook to be ready again', patient);
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  t.equal(code, 0);
  await t.rejects(fetch(`${address}/healthz`), 'the hook is gone');
  t.notOk(existsSync(dirname(kubeconfig)), 'the control plane is gone too');
});
