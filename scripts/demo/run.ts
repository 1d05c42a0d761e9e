// Runs the demo after its options are read: four acts in an environment that is removed however the demo ends.
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { commit, rollBack, undo as undoFirst } from './acts.ts';
import { createChecks } from './checks.ts';
import { upOrUndone } from './gates.ts';
import type { DemoOptions } from './options.ts';
import { showPackages } from './packages.ts';
import { look, openShop } from './shop.ts';
import { explain, heading, literal, print, progress } from './terminal.ts';
import { createUndo } from './undo.ts';
import { openUsersWorld } from './users-cluster.ts';
import { startWorld, type World } from './world.ts';

const undo = createUndo();
const over = new AbortController();
let staying = false;

/** Returns the exit code. */
export async function runDemo(options: DemoOptions): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void interrupt(signal));
  const succeeded = await (options.isOfPackages ? performPackages() : perform(options)).catch(printFailure);
  await undo.run();
  return succeeded ? 0 : 1;
}

async function printFailure(error: unknown): Promise<boolean> {
  // A signal makes everything fail, and `interrupt` ends the process.
  if (over.signal.aborted) return new Promise<never>(() => undefined);
  process.stderr.write(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
  return false;
}

async function perform(options: DemoOptions): Promise<boolean> {
  const world = options.kubeconfig === undefined ? await startWorld(undo) : await openUsersWorld(undo, options);
  await openShop(world.client);
  progress('created what the example needs: manifests/examples/shop.yaml, examples/rollback/banner.yaml');
  const beginning = await look(world.client);
  const checks = createChecks();
  await commit(world, checks);
  await rollBack(world, checks);
  await undoFirst(world, checks, beginning);
  await upOrUndone(world, checks, undo);
  explainComparison();
  const succeeded = checks.conclude();
  if (options.keep) await stay(world);
  return succeeded;
}

async function performPackages(): Promise<boolean> {
  const checks = createChecks();
  await showPackages(undo, checks);
  explainComparison();
  return checks.conclude();
}

function explainComparison(): void {
  print();
  explain(`"Exactly as before" compares whole objects except fields that the API server sets (resourceVersion, generation, the times
    in managedFields; uid and creation time of deleted objects), status, and the rollout number of the Deployment's controller.`);
}

/** Waits for a signal. */
async function stay({ kubeconfig }: World): Promise<void> {
  heading('Left running until Ctrl-C');
  explain('In another terminal:');
  literal(`export KUBECONFIG=${kubeconfig}
kubectl -n shop get tx
kubectl -n shop get tx -o wide
kubectl -n shop describe tx deploy-v3
kubectl -n shop delete tx deploy-v2
kubectl apply -f manifests/examples/deploy-v2.yaml
kubectl -n shop wait --for=condition=Finished tx/deploy-v2
kubectl -n shop annotate tx deploy-v2 tx.janus.io/request-rollback=again`);
  staying = true;
  await sleep(2 ** 30, undefined, { signal: over.signal }).catch(() => undefined);
}

/** Ends the waiting if the demo has come that far, otherwise everything. */
async function interrupt(signal: NodeJS.Signals): Promise<void> {
  if (over.signal.aborted) return;
  over.abort();
  print();
  progress(`${signal}: cleaning up`);
  if (staying) return;
  await undo.run();
  process.exit(128 + constants.signals[signal]);
}
