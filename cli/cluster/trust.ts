// The default authorities of TLS connections: those of Node, and those that a kubeconfig adds.
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { codeOf, Problem } from '../problem.ts';

/** Adds PEM text with one or several certificates, for the whole process. */
export function trust(authorities: string): void {
  const each = authorities.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  setDefaultCACertificates([...getCACertificates('default'), ...each]);
}

/** `field`: the field of the kubeconfig that names the file. Throws a Problem. */
export function authorityIn(path: string, field: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error, 'unreadable');
    throw new Problem(`${field} of the kubeconfig names ${path}, which cannot be read (${code}): correct it.`);
  }
}
