// Chooses between a kubeconfig and the files of a Pod. client-node is loaded for a kubeconfig only: a Pod, whose three values are
// read without it, saves 38 MiB (docs/decisions/0029-client-node-for-kubeconfigs.md).
import type { Connection } from './connection.ts';
import { type PodFiles, podConnection } from './pod.ts';

export type ApiServerAccess = { readonly kind: 'kubeconfig' /** As kubectl joins them. */; readonly paths: string } | PodFiles;

/** Rejects with a sentence for people if the connection cannot be used. */
export async function connect(access: ApiServerAccess): Promise<Connection> {
  if (access.kind === 'pod') return podConnection(access);
  const { kubeconfigConnection } = await import('./kubeconfig-connection.ts');
  return kubeconfigConnection(access.paths);
}
