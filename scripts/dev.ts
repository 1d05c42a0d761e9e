// `npm run dev`: a control plane, Metacontroller's loop and the hook; the hook restarts whenever one of its sources is saved.
// Prints the log, and how to reach the cluster with kubectl. Runs until Ctrl-C, and leaves nothing behind.
import { once } from 'node:events';
import { watch } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningHook, startHook } from './demo/hook.ts';
import { explain, heading, literal, progress } from './demo/terminal.ts';
import { createUndo } from './demo/undo.ts';
import { startWorld } from './demo/world.ts';

const root = join(import.meta.dirname, '..');
const watched = ['hooks', 'schemas', 'server'];
const undo = createUndo();
let ending = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0));
process.on('unhandledRejection', (error) => {
  process.stderr.write(`npm run dev failed: ${error instanceof Error ? error.message : String(error)}\n`);
  void end(1);
});

void run();

async function run(): Promise<void> {
  // The loop calls the hook at a fixed port, so every restart uses this port.
  const environment = { PORT: String(await freePort()) };
  const { client, kubeconfig, hook } = await startWorld(undo, { environment });
  const nextSave = follow();
  show(hook);
  heading('Ready: save a file of hooks/, schemas/ or server/, and the hook restarts');
  explain('In another terminal:');
  literal(`export KUBECONFIG=${kubeconfig}
kubectl apply -f manifests/examples/shop.yaml
kubectl apply -f manifests/examples/deploy-v2.yaml
kubectl -n shop get tx -w`);
  for (let running: RunningHook | undefined = hook; !ending; ) {
    const path = await nextSave();
    progress(`${path} was saved: the hook restarts`);
    await endOf(running);
    running = await startHook(client, kubeconfig, undo, { environment }).catch(showFailure);
    if (running === undefined) continue;
    show(running);
    progress(`the hook runs again at ${running.address}`);
  }
}

function show({ process: { stdout, stderr } }: RunningHook): void {
  stdout?.pipe(process.stdout, { end: false });
  stderr?.pipe(process.stderr, { end: false });
}

/** A source does not compile. The next save may correct it. */
function showFailure(error: Error): undefined {
  if (!ending) process.stderr.write(`${error.message}\n`);
}

async function endOf(running: RunningHook | undefined): Promise<void> {
  if (running === undefined || running.process.exitCode !== null) return;
  running.process.kill('SIGTERM');
  await once(running.process, 'exit');
}

const settleTime = 100; // an editor writes a file more than once to save it

/** Returns a function that resolves to the path of a TypeScript source saved since its last call. */
function follow(): () => Promise<string> {
  let saved = Promise.withResolvers<string>();
  for (const folder of watched)
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (name?.endsWith('.ts')) saved.resolve(join(folder, name));
    });
  return async () => {
    const path = await saved.promise;
    await sleep(settleTime);
    saved = Promise.withResolvers<string>();
    return path;
  };
}

async function end(code: number): Promise<void> {
  if (ending) return;
  ending = true;
  progress('cleaning up');
  await undo.run();
  process.exit(code);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
