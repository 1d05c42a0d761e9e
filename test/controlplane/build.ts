// The binaries of the control plane: etcd, kube-apiserver and kube-controller-manager, from the modules pinned in go.mod, or from those of
// another minor version, or ready ones from a folder; and the kubectl that tests type.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isProgram } from '../support/program.ts';
import { buildTools, isCached, type ReportLine, type Tools } from '../tools/build.ts';
import type { Binaries } from './components.ts';
import { prebuiltBinaries } from './prebuilt.ts';
import { isPinned, moduleFolder, moduleOf, patchOf, variable } from './versions.ts';

export async function buildBinaries(report: ReportLine, env: NodeJS.ProcessEnv = process.env): Promise<Binaries> {
  const ready = prebuiltBinaries(env);
  if (ready !== undefined) return ready;
  const patch = patchOf(env[variable] || undefined);
  await moduleOf(patch, env);
  const directory = await buildTools(controlPlane(patch, env), report, env);
  return {
    // `go build tool` names a binary after its folder, and etcd's is go.etcd.io/etcd/server/v3.
    etcd: join(directory, 'server'),
    'kube-apiserver': join(directory, 'kube-apiserver'),
    'kube-controller-manager': join(directory, 'kube-controller-manager'),
  };
}

/** The path of kubectl: that in the folder of a ready control plane, if it has one; else of the pinned version, whatever is started. */
export async function buildKubectl(report: ReportLine, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const ready = join(env.JANUS_CONTROL_PLANE ?? '', 'kubectl');
  if (env.JANUS_CONTROL_PLANE && isProgram(ready)) return ready;
  return join(await buildTools(controlPlane(patchOf(), env), report, env), 'kubectl');
}

/** Whether a control plane starts without a build. */
export function isBuilt(env: NodeJS.ProcessEnv = process.env): boolean {
  const patch = patchOf(env[variable] || undefined);
  return Boolean(env.JANUS_CONTROL_PLANE) || (existsSync(moduleFolder(patch, env)) && isCached(controlPlane(patch, env), env));
}

function controlPlane(patch: string, env: NodeJS.ProcessEnv): Tools {
  return {
    directory: moduleFolder(patch, env),
    name: isPinned(patch) ? 'controlplane' : `controlplane-${patch}`,
    title: isPinned(patch) ? 'The control plane for tests' : `The control plane of Kubernetes ${patch}`,
    cost: '7 to 9 minutes on 2 cores, plus some 700 MB of module downloads',
    flags: ['-ldflags', linkerFlags(patch)],
    otherwise:
      'name a folder that has etcd, kube-apiserver and kube-controller-manager: JANUS_CONTROL_PLANE=…, ' +
      'or use a cluster that you have: KUBECONFIG=… with --use-existing-cluster',
  };
}

/** Without the version flags discovery and kubectl would see v0.0.0. */
function linkerFlags(patch: string): string {
  const version = 'k8s.io/component-base/version';
  const [major, minor] = patch.split('.');
  return `-s -w -X ${version}.gitVersion=v${patch} -X ${version}.gitMajor=${major} -X ${version}.gitMinor=${minor}`;
}
