// Runs a script of this project, also on a fresh clone: `node scripts/with-dependencies.mjs scripts/test.ts [arguments]`. If the
// dependencies are missing, it installs them. Then it starts the script with the Node among them. This file is plain JavaScript without
// dependencies, so that an older Node without type stripping can run it.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const onWindows = process.platform === 'win32';
const pinnedNode = join(root, 'node_modules', 'node', 'bin', onWindows ? 'node.exe' : 'node');

if (!existsSync(pinnedNode)) install();
handOver(process.argv.slice(2));

function install() {
  console.error('Installing the dependencies that package-lock.json pins (npm ci).');
  // Standard output is reserved for the script.
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: onWindows,
  });
  if (status === 0 && existsSync(pinnedNode)) return;
  console.error(
    status === 0
      ? `npm ci left no ${pinnedNode}: install scripts seem to be switched off; run npm ci --ignore-scripts=false.`
      : 'npm ci failed (see above): check the network or the registry that npm is configured for, then try again.',
  );
  process.exit(1);
}

/** The script receives the signals of this process, and decides the exit code. The terminal sends Ctrl-C to the script itself. */
function handOver(args) {
  const binaries = join(root, 'node_modules', '.bin');
  const env = {
    // Node's compile cache. The tests start some hundred processes, and all of them load these modules.
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
    ...process.env,
    PATH: `${binaries}${onWindows ? ';' : ':'}${process.env.PATH}`,
  };
  const child = spawn(pinnedNode, args, { cwd: root, stdio: 'inherit', env });
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
