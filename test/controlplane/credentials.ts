// Keys, tokens and kubeconfigs of one control plane: new for each, readable by this user only, gone with its directory.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateDirectory } from './components.ts';

export interface Tokens {
  readonly admin: string;
  readonly controllerManager: string;
}

/** Writes the service account keys and the token file, which the API server needs to start. */
export function writeCredentials(directory: string): Tokens {
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  writePrivate(join(directory, 'service-account.key'), keys.privateKey);
  writePrivate(join(directory, 'service-account.pub'), keys.publicKey);
  const tokens = { admin: randomBytes(24).toString('base64url'), controllerManager: randomBytes(24).toString('base64url') };
  const lines = [
    `${tokens.admin},admin,admin,"system:masters"`,
    // A user of its own, so that audit and field managers distinguish the controllers from the tests.
    `${tokens.controllerManager},system:kube-controller-manager,system:kube-controller-manager,"system:masters"`,
  ];
  writePrivate(join(directory, 'tokens.csv'), `${lines.join('\n')}\n`);
  return tokens;
}

/** Writes the kubeconfigs; the API server has signed its certificate by then. Returns the path of the administrator's. */
export function writeKubeconfigs(directory: string, url: string, tokens: Tokens): string {
  const certificate = readFileSync(join(directory, certificateDirectory, 'apiserver.crt')).toString('base64');
  const admin = join(directory, 'kubeconfig');
  writePrivate(admin, kubeconfig(url, certificate, tokens.admin));
  writePrivate(join(directory, 'controller-manager.kubeconfig'), kubeconfig(url, certificate, tokens.controllerManager));
  return admin;
}

/** JSON is YAML. */
function kubeconfig(url: string, certificate: string, token: string): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'janus', cluster: { server: url, 'certificate-authority-data': certificate } }],
    users: [{ name: 'janus', user: { token } }],
    contexts: [{ name: 'janus', context: { cluster: 'janus', user: 'janus' } }],
    'current-context': 'janus',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function writePrivate(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
}
