// Chooses between a kubeconfig and the files of a Pod. It loads client-node only for a kubeconfig. A Pod needs three values, which this
// code reads without client-node, and saves 38 MiB (docs/decisions/0040-client-node-in-earnest.md).
import type { Connection } from './connection.ts';
import { type PodFiles, podConnection } from './pod.ts';

export type ApiServerAccess = { readonly kind: 'kubeconfig' /** Joined as in KUBECONFIG. */; readonly paths: string } | PodFiles;

/** Rejects with a sentence for the user if the connection cannot be used. */
export async function connect(access: ApiServerAccess): Promise<Connection> {
  if (access.kind === 'pod') return podConnection(access);
  const { kubeconfigConnection } = await import('./kubeconfig-connection.ts').catch((cause: unknown) => {
    throw new Error('expected client-node, which the image does not hold: run the hook in a Pod, or from a checkout', { cause });
  });
  return kubeconfigConnection(access.paths);
}
