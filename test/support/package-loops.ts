// Metacontroller's loops over Packages that make their own package transactions, one for each kind. Two hooks and more take the calls in
// turn. They are doubles, whichever Metacontroller is installed: the real one has one address for its hook.
import { optedIn } from '../../hooks/packages/model/own.ts';
import type { Teardown } from './client.ts';
import { hookToken } from './hook-token.ts';
import { startMetacontroller } from './metacontroller/double.ts';
import { type FetchHook, httpTransport } from './metacontroller/hook-call.ts';

interface OwnLoops {
  /** Paths and names of the calls so far, such as `/sync s3`. */
  calls(): readonly string[];
  stop(): Promise<void>;
}

export const ownFinalizer = 'metacontroller.io/decoratorcontroller-janus-packages-own';

/** `annotations`: those of the Packages that they select. */
export async function startOwnLoops(
  t: Teardown,
  kubeconfig: string,
  hookUrls: readonly string[],
  annotations = optedIn as Readonly<Record<string, string>>,
): Promise<OwnLoops> {
  const transport = httpTransport();
  const [first = ''] = hookUrls;
  let turn = 0;
  const fetchHook: FetchHook = (request) => {
    turn += 1;
    return transport.fetchHook({ ...request, url: request.url.replace(first, hookUrls[turn % hookUrls.length] ?? first) });
  };
  const common = { kubeconfig, hookUrl: `${first}/packages/own`, name: 'janus-packages-own', token: hookToken, workers: 50 };
  const loops = await Promise.all(
    ['providers', 'configurations', 'functions'].map((resource) => {
      const parentResource = { apiVersion: 'pkg.crossplane.io/v1', resource };
      return startMetacontroller({ ...common, parentResource, customize: true, decorates: annotations, fetchHook });
    }),
  );
  const stop = async (): Promise<void> => {
    await Promise.all(loops.map((loop) => loop.stop()));
    await transport.close();
  };
  t.teardown(stop);
  return { calls: () => loops.flatMap((loop) => loop.calls.map(({ path, parent }) => `${path} ${parent.name}`)), stop };
}
