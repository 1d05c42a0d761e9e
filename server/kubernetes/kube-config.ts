// client-node's KubeConfig without what its other uses need: the models of every Kubernetes kind, for typed clients (40 MiB, and
// half a second of CPU at the start), and the ways through a proxy, which the hook refuses.
import { registerHooks } from 'node:module';

const reader = /\/client-node\/dist\/config\.js$/;
/** What it names of modules that are not loaded. */
const unused: Readonly<Record<string, readonly string[]>> = {
  './gen/index.js': ['createConfiguration', 'ServerConfiguration'],
  hpagent: ['HttpProxyAgent', 'HttpsProxyAgent'],
  socks: ['SocksClient'],
  'socks-proxy-agent': ['SocksProxyAgent'],
  undici: ['Agent', 'ProxyAgent'],
};

const hooks = registerHooks({
  resolve: (specifier, context, next) => {
    const names = reader.test(context.parentURL ?? '') ? unused[specifier] : undefined;
    if (names === undefined) return next(specifier, context);
    const nothing = names.map((name) => `${name} = undefined`).join(', ');
    return { url: `data:text/javascript,export const ${nothing};`, shortCircuit: true };
  },
});

export const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');

hooks.deregister();
