// `npm run controlplane`: a control plane to work with by hand, until Ctrl-C.
import { openCluster } from './existing.ts';

const controlPlane = await openCluster(process.argv.slice(2));
console.log(`export KUBECONFIG=${controlPlane.kubeconfig}`);
process.stderr.write('Running until Ctrl-C.\n');

const forever = setInterval(() => undefined, 2 ** 30);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    clearInterval(forever);
    void controlPlane.stop().then(() => process.stderr.write('Stopped; nothing is left.\n'));
  });
}
