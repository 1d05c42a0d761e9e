// The binaries of the control plane: etcd, kube-apiserver and kube-controller-manager, from the modules pinned in go.mod.
import { join } from 'node:path';
import { buildTools, type ReportLine, type Tools } from '../tools/build.ts';

export interface Binaries {
  readonly etcd: string;
  readonly 'kube-apiserver': string;
  readonly 'kube-controller-manager': string;
}

// Without the version flags discovery and kubectl would see v0.0.0.
const version = 'k8s.io/component-base/version';
const linkerFlags = `-s -w -X ${version}.gitVersion=v1.36.3 -X ${version}.gitMajor=1 -X ${version}.gitMinor=36`;

const controlPlane: Tools = {
  directory: import.meta.dirname,
  name: 'controlplane',
  title: 'The control plane for tests',
  cost: 'about 6 minutes on 2 cores, plus some 700 MB of module downloads',
  flags: ['-ldflags', linkerFlags],
  otherwise: 'use a cluster that you have: KUBECONFIG=… with --use-existing-cluster',
};

export async function buildBinaries(report: ReportLine): Promise<Binaries> {
  const directory = await buildTools(controlPlane, report);
  return {
    // `go build tool` names a binary after its folder, and etcd's is go.etcd.io/etcd/server/v3.
    etcd: join(directory, 'server'),
    'kube-apiserver': join(directory, 'kube-apiserver'),
    'kube-controller-manager': join(directory, 'kube-controller-manager'),
  };
}
