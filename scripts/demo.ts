// `npm run demo`: shows the main use, live, on a control plane of its own. Exit code 0 only if the cluster is in the announced state.
// `npm run demo -- packages`: packages of Crossplane, installed whole or not at all.
// `npm run demo -- --keep` leaves it running until Ctrl-C; `--kubeconfig FILE` uses a cluster of the user instead of its own.
// However the demo ends, it leaves nothing behind. The imports here load fast, so that the first lines appear at once.
import { announce, type DemoOptions, readDemoOptions } from './demo/options.ts';

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  let options: DemoOptions;
  try {
    options = readDemoOptions(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return 2;
  }
  announce(options, process.env);
  const { runDemo } = await import('./demo/run.ts');
  return runDemo(options);
}
