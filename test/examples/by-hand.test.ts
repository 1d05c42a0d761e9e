// examples/hook/README.md, typed as it stands: a control plane, the hook, and a call by curl, at another port and with another folder.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../controlplane/start.ts';
import { start } from '../support/demo.ts';
import { pathWithKubectl } from '../support/kubectl.ts';
import { type Block, root } from '../support/pages.ts';
import { openPages } from '../support/typing.ts';

const pages = openPages('test/examples/by-hand.test.ts');
const hasCurl = spawnSync('curl', ['--version']).status === 0;

t.test('examples/hook/README.md: three terminals', { skip: hasCurl ? false : 'needs curl' }, async (t) => {
  const [first, second, third] = pages.take('examples/hook/README.md');
  if (first === undefined || second === undefined || third === undefined) throw new Error('expected a block for each terminal');
  const [port, token] = [await freePort(), join(t.testdir({}), 'token')];
  const as = (text: string): string => text.replaceAll('8080', String(port)).replaceAll('/tmp/janus-token', token);
  const run = (block: Block, env = {}) =>
    start(t, ['bash', '-euc', as(block.commands.map(({ text }) => text).join('\n'))], { PATH, ...env });
  const PATH = await pathWithKubectl();
  const plane = run(first);
  const env = { KUBECONFIG: await plane.line(/export KUBECONFIG=(\S+)/) };
  const hook = run(second, env);
  await hook.line(/listening at (http:[^"]+)/);
  const answer = await pages.typeOne(t, third, { folder: root, env, as });
  t.match(answer, /"phase": ?"Committed"/);
  hook.interrupt();
  await hook.ended;
  plane.interrupt();
  await plane.ended;
});
