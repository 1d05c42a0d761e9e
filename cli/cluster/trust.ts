// Authorities that TLS connections without one of their own accept: those of Node, and what a kubeconfig adds.
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** PEM, of one certificate or several. For the whole process. */
export function trust(authorities: string): void {
  const each = authorities.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  setDefaultCACertificates([...getCACertificates('default'), ...each]);
}
