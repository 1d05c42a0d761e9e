// `npm run dev`, as CONTRIBUTING.md shows it: the hook restarts when a source is saved, at the same address; Ctrl-C leaves nothing.
import { existsSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { waitFor } from '../support/client.ts';
import { start } from '../support/demo.ts';
import { root } from '../support/pages.ts';
import { openPages } from '../support/typing.ts';

const patient = { timeoutMs: 300_000 };

t.test('save, restart, Ctrl-C', async (t) => {
  const [{ commands } = { commands: [] }] = openPages('test/scripts/dev.test.ts').take('CONTRIBUTING.md', 'The loop');
  const running = start(t, ['bash', '-c', commands.map(({ text }) => text).join('\n')]);
  const seen = (pattern: RegExp) => waitFor(() => pattern.exec(running.output())?.[1], `${pattern}`, patient);
  const address = await seen(/listens at (http:\S+)/);
  const kubeconfig = await seen(/export KUBECONFIG=(\S+)/);
  await seen(/(Ready: save)/);
  const now = new Date();
  utimesSync(join(root, 'server', 'clock.ts'), now, now);
  t.equal(await seen(/the hook runs again at (http:\S+)/), address);
  await waitFor(async () => (await fetch(`${address}/readyz`).catch(() => undefined))?.ok, 'the hook to be ready again', patient);
  running.interrupt();
  // npm itself ends by the signal, and so has no exit code.
  await running.ended;
  await t.rejects(fetch(`${address}/healthz`), 'the hook is gone');
  t.notOk(existsSync(dirname(kubeconfig)), 'the control plane is gone too');
});
