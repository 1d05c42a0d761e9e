// Corrects two faults of client-node 2.0.1 in the refresh of OIDC tokens (test/cli/connections.test.ts). client-node passes the address
// of the issuer as a string, but its library requires a URL. If the issuer has a private authority, client-node cannot read its answers.
// So the loaded configuration gets the address as a URL, and this process trusts the authority.
import { dirname, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { authorityIn, trust } from './trust.ts';

type Settings = Record<string, unknown>;

/** For the user of the current context. `path`: the path of the kubeconfig; relative paths in the kubeconfig start from it. */
export function prepareOidc(config: KubeConfig, path: string | undefined): void {
  const provider = config.getCurrentUser()?.authProvider as { readonly name?: string; readonly config?: Settings } | undefined;
  if (provider?.name !== 'oidc' || provider.config === undefined) return;
  const settings = provider.config;
  const issuer = settings['idp-issuer-url'];
  if (typeof issuer === 'string' && URL.canParse(issuer)) settings['idp-issuer-url'] = new URL(issuer);
  const authority = authorityOf(settings, path);
  if (authority === undefined) return;
  trust(authority);
  delete settings['idp-certificate-authority'];
  delete settings['idp-certificate-authority-data'];
}

function authorityOf(settings: Settings, path: string | undefined): string | undefined {
  const [file, data] = [settings['idp-certificate-authority'], settings['idp-certificate-authority-data']];
  if (typeof data === 'string' && data !== '') return Buffer.from(data, 'base64').toString();
  if (typeof file !== 'string' || file === '') return undefined;
  return authorityIn(path === undefined ? file : resolve(dirname(path), file), 'idp-certificate-authority');
}
