// Metacontroller's loops over Packages that make their own package transactions. Two hooks and more take the calls in turn. The loops are
// doubles, one for each kind, unless the test requests the real Metacontroller.

import { optedIn } from '../../hooks/crossplane/model/own.ts';
import { at, parseJson, textAt } from '../../hooks/objects/json.ts';
import { connect, type Teardown } from './client.ts';
import { hookToken } from './hook-token.ts';
import { startInTurn } from './in-turn.ts';
import { startDecorator } from './metacontroller/decorator.ts';
import { startMetacontroller } from './metacontroller/double.ts';
import { type FetchHook, httpTransport } from './metacontroller/hook-call.ts';

interface OwnLoops {
  /** Paths and names of the calls so far, such as `/sync s3`. */
  calls(): readonly string[];
  /** The loops list all Packages again, and call about each of them. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export const ownFinalizer = 'metacontroller.io/decoratorcontroller-janus-packages-own';

interface OwnLoopOptions {
  readonly kubeconfig: string;
  readonly hookUrls: readonly string[];
  /** Those of the Packages that they select; the annotation of the opt-in by default. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The real Metacontroller calls, with the DecoratorController as it is shipped. */
  readonly isReal?: boolean;
}

export async function startOwnLoops(t: Teardown, options: OwnLoopOptions): Promise<OwnLoops> {
  const loops = await (options.isReal === true ? startReal(options) : startDoubles(options));
  t.teardown(loops.stop);
  return loops;
}

async function startDoubles({ kubeconfig, hookUrls, annotations = optedIn as Record<string, string> }: OwnLoopOptions) {
  const transport = httpTransport();
  const [first = ''] = hookUrls;
  let turn = 0;
  const fetchHook: FetchHook = (request) => {
    turn += 1;
    return transport.fetchHook({ ...request, url: request.url.replace(first, hookUrls[turn % hookUrls.length] ?? first) });
  };
  const common = { kubeconfig, hookUrl: `${first}/packages/own`, name: 'janus-packages-own', token: hookToken, workers: 50 };
  const start = () =>
    Promise.all(
      ['providers', 'configurations', 'functions'].map((resource) => {
        const parentResource = { apiVersion: 'pkg.crossplane.io/v1', resource };
        return startMetacontroller({ ...common, parentResource, customize: true, decorates: annotations, fetchHook });
      }),
    );
  const all = [...(await start())];
  const stopAll = () => Promise.all(all.map((loop) => loop.stop()));
  return {
    calls: () => all.flatMap((loop) => loop.calls.map(({ path, parent }) => `${path} ${parent.name}`)),
    restart: async () => {
      await stopAll();
      all.push(...(await start()));
    },
    stop: async () => {
      await stopAll();
      await transport.close();
    },
  };
}

/** The real Metacontroller has one address for its hook. */
async function startReal({ kubeconfig, hookUrls, annotations }: OwnLoopOptions): Promise<OwnLoops> {
  const calls: string[] = [];
  const note = (path: string, body: Buffer): void => {
    calls.push(`/${path.split('/').at(-1)} ${textAt(at(parseJson(body.toString()), 'object'), 'metadata', 'name')}`);
  };
  const front = await startInTurn(() => hookUrls, undefined, 0, note);
  const client = connect(kubeconfig);
  const manifest = 'packages/own/decorator-controller.yaml';
  const isForAll = annotations !== undefined && Object.keys(annotations).length === 0;
  const decorator = await startDecorator({ client, kubeconfig, hookUrl: front.address, manifest, isForAll });
  return {
    calls: () => calls,
    restart: decorator.restart,
    stop: async () => {
      await decorator.stop();
      await client.close();
      await front.close();
    },
  };
}
