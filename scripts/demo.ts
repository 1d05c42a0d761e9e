// `npm run demo`: the main use, live, on a control plane of its own. Exit code 0 only if the cluster is as announced.
// `npm run demo -- --keep` leaves it running until Ctrl-C. However the demo ends, it leaves nothing behind.
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { commit, rollBack, undo as undoFirst } from './demo/acts.ts';
import { createChecks } from './demo/checks.ts';
import { upOrUndone } from './demo/gates.ts';
import { look, openShop } from './demo/shop.ts';
import { explain, heading, literal, print, progress } from './demo/terminal.ts';
import { createUndo } from './demo/undo.ts';
import { startWorld, type World } from './demo/world.ts';

const undo = createUndo();
const over = new AbortController();
let staying = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void interrupt(signal));

const args = process.argv.slice(2);
const unknown = args.filter((arg) => arg !== '--keep');
process.exit(unknown.length === 0 ? await main(args.includes('--keep')) : refuse(unknown));

function refuse(found: readonly string[]): number {
  process.stderr.write(`expected --keep or nothing, found ${found.join(' ')}: npm run demo, or npm run demo -- --keep\n`);
  return 2;
}

async function main(keep: boolean): Promise<number> {
  const succeeded = await perform(keep).catch(tellFailure);
  await undo.run();
  return succeeded ? 0 : 1;
}

async function tellFailure(error: unknown): Promise<boolean> {
  // A signal makes everything fail, and `interrupt` ends the process.
  if (over.signal.aborted) return new Promise<never>(() => undefined);
  process.stderr.write(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
  return false;
}

async function perform(keep: boolean): Promise<boolean> {
  heading('Janus on Metacontroller');
  explain('Several Kubernetes changes as one unit: either all are applied, or those already applied are rolled back.');
  const world = await startWorld(undo);
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
  if (keep) await stay(world);
  return succeeded;
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
