// client-node's KubeConfig without the models of every Kubernetes kind, which it loads to make typed clients that are not used
// here: 40 MiB, and half a second of CPU at the start.
import { registerHooks } from 'node:module';

const reader = /\/client-node\/dist\/config\.js$/;
const models = './gen/index.js';
const nothing = 'data:text/javascript,export const createConfiguration = undefined, ServerConfiguration = undefined;';

const hooks = registerHooks({
  resolve: (specifier, context, next) =>
    specifier === models && reader.test(context.parentURL ?? '')
      ? { url: nothing, shortCircuit: true }
      : next(specifier, context),
});

export const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');

hooks.deregister();
