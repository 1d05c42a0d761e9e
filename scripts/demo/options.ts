// The command line of the demo, and its first lines. The demo prints them before it loads slow modules.
import { parseArgs } from 'node:util';
import { isBuilt } from '../../test/controlplane/build.ts';
import { findEnvtest } from '../../test/controlplane/prebuilt.ts';
import { explain, heading, progress } from './terminal.ts';

export interface DemoOptions {
  /** Stays until Ctrl-C. */
  readonly keep: boolean;
  /** A cluster of the user, instead of a control plane on this machine. */
  readonly kubeconfig?: string;
  /** Installs in that cluster without a question. */
  readonly yes: boolean;
  /** Packages of Crossplane instead of Transactions. */
  readonly isOfPackages: boolean;
}

const expected = 'expected --keep, --kubeconfig FILE and --yes, or packages alone, or nothing';

/** Throws a sentence for unknown arguments. */
export function readDemoOptions(args: readonly string[]): DemoOptions {
  const booleans = { keep: { type: 'boolean' }, yes: { type: 'boolean' } } as const;
  const options = { ...booleans, kubeconfig: { type: 'string' } } as const;
  const { values, positionals, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const unknown = tokens.flatMap((token) =>
    token.kind === 'option' && !Object.hasOwn(options, token.name) ? [token.rawName] : [],
  );
  const isOfPackages = args.length === 1 && args[0] === 'packages';
  const found = isOfPackages ? [] : [...unknown, ...positionals];
  if (found.length > 0) throw new Error(`${expected}, found ${found.join(' ')}: npm run demo, or npm run demo -- --keep`);
  const { kubeconfig } = values;
  if (kubeconfig === true || kubeconfig === '') throw new Error(`${expected}, found --kubeconfig without a file.`);
  return {
    keep: values.keep === true,
    yes: values.yes === true,
    isOfPackages,
    ...(typeof kubeconfig === 'string' ? { kubeconfig } : {}),
  };
}

/** Prints the plan of the demo and its duration. If the programs of envtest exist, it names them as those of the control plane. */
export function announce({ kubeconfig, isOfPackages }: DemoOptions, env: NodeJS.ProcessEnv): void {
  heading('Janus on Metacontroller');
  for (const line of isOfPackages ? ofPackages : ofTransactions) explain(line);
  if (kubeconfig !== undefined) {
    explain(`In the cluster of ${kubeconfig}. It asks before it writes anything there.`);
    return;
  }
  useEnvtest(env);
  if (!isBuilt(env))
    explain(
      'First it builds a control plane from source, once: 7 to 9 minutes on 2 cores, and some 700 MB of downloads. ' +
        'JANUS_CONTROL_PLANE=FOLDER uses existing programs, --kubeconfig FILE uses an existing cluster.',
    );
}

const ofTransactions = [
  'Several Kubernetes changes as one unit: either all are applied, or those already applied are rolled back.',
  'Four acts, in about half a minute: one Transaction commits, one is rolled back, the first is undone, one does not come up.',
];
const ofPackages = [
  'Packages of Crossplane, with all that they depend on: either all are installed, or nothing is changed.',
  'Four package transactions: an install, an update, an update that a policy stops half way, and one that is refused.',
];

function useEnvtest(env: NodeJS.ProcessEnv): void {
  const envtest = env.JANUS_CONTROL_PLANE ? undefined : findEnvtest(env);
  if (envtest === undefined) return;
  const { folder, missing } = envtest;
  if (missing.length === 0) {
    env.JANUS_CONTROL_PLANE = folder;
    progress(`the control plane is that of KUBEBUILDER_ASSETS, ${folder}: nothing is built`);
    return;
  }
  progress(
    `KUBEBUILDER_ASSETS, ${folder}, is not used: it has no ${missing.join(', no ')}; add the missing program of that version`,
  );
}
