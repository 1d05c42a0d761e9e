// `npm run demo`: the main use, live, on a control plane of its own. Exit code 0 only if the cluster is as announced.
// `npm run demo -- packages`: packages of Crossplane, installed whole or not at all.
// `npm run demo -- --keep` leaves it running until Ctrl-C; `--kubeconfig FILE` takes a cluster of the user's in place of one of its own.
// However the demo ends, it leaves nothing behind. What is imported here loads at once, so that the first lines come at once.
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
