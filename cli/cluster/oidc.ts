// The refresh of OIDC tokens in client-node 2.0.1 fails: it hands its library the address of the issuer as a string where a URL is
// required, and answers of its own where the issuer has a private authority. Both are put right in the loaded configuration
// (test/cli/connections.test.ts holds it): the address becomes a URL, the authority one that this process trusts.
import { dirname, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { authorityIn, trust } from './trust.ts';

type Settings = Record<string, unknown>;

/** Of the user of the current context. `path`: of the kubeconfig, which relative paths in it start from. */
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
