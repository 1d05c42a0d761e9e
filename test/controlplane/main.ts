// `npm run controlplane`: a control plane to work with by hand, until Ctrl-C.
import { openCluster } from './existing.ts';
import type { ControlPlane } from './start.ts';

let controlPlane: ControlPlane | undefined;
const forever = setInterval(() => undefined, 2 ** 30);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void stop());

try {
  controlPlane = await openCluster(process.argv.slice(2));
  console.log(`export KUBECONFIG=${controlPlane.kubeconfig}`);
  process.stderr.write('Running until Ctrl-C.\n');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

async function stop(): Promise<void> {
  clearInterval(forever);
  // What is still being built or started ends with this process.
  if (controlPlane === undefined) process.exit(1);
  await controlPlane.stop();
  process.stderr.write('Stopped; nothing is left.\n');
}
