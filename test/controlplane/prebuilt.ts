// Ready programs of a control plane, for users without Go: in a folder that JANUS_CONTROL_PLANE names, or in the folder of envtest.
import { join } from 'node:path';
import { isProgram } from '../support/program.ts';
import { type Binaries, type Component, components } from './components.ts';

/** Undefined where no folder is named. Throws a sentence where the folder lacks a program: who names one wants that and no other. */
export function prebuiltBinaries({ JANUS_CONTROL_PLANE: folder }: NodeJS.ProcessEnv): Binaries | undefined {
  if (folder === undefined || folder === '') return undefined;
  const missing = missingIn(folder);
  if (missing.length === 0) return binariesIn(folder);
  throw new Error(
    `JANUS_CONTROL_PLANE: expected a folder with ${components.join(', ')}, found no ${missing.join(', no ')} in ${folder}; ` +
      'add what is missing, or unset the variable.',
  );
}

interface Envtest {
  readonly folder: string;
  /** envtest itself has no controller manager; a Deployment without one rolls out nothing. */
  readonly missing: readonly Component[];
}

/** The folder of Kubernetes' own test tools, by the variable that they use. Tests do not look for it: they run on a known version. */
export function findEnvtest({ KUBEBUILDER_ASSETS: folder }: NodeJS.ProcessEnv): Envtest | undefined {
  if (folder === undefined || !isProgram(join(folder, 'kube-apiserver'))) return undefined;
  return { folder, missing: missingIn(folder) };
}

function missingIn(folder: string): readonly Component[] {
  return components.filter((name) => !isProgram(join(folder, name)));
}

function binariesIn(folder: string): Binaries {
  const of = (name: Component): string => join(folder, name);
  return {
    etcd: of('etcd'),
    'kube-apiserver': of('kube-apiserver'),
    'kube-controller-manager': of('kube-controller-manager'),
  };
}
