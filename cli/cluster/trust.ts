// Authorities that TLS connections without one of their own accept: those of Node, and what a kubeconfig adds.
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { codeOf, Problem } from '../problem.ts';

/** PEM, of one certificate or several. For the whole process. */
export function trust(authorities: string): void {
  const each = authorities.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  setDefaultCACertificates([...getCACertificates('default'), ...each]);
}

/** `field`: the one of the kubeconfig that names the file. Throws a Problem. */
export function authorityIn(path: string, field: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error, 'unreadable');
    throw new Problem(`${field} of the kubeconfig names ${path}, which cannot be read (${code}): correct it.`);
  }
}
