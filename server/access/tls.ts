// The certificate of the hook, and the authority that must have signed the certificates of callers.
import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { TlsPaths } from '../config.ts';
import type { Files, Parsed } from './files.ts';

/** The options that create a TLS server, and that it reloads. */
export type TlsMaterial = Pick<SecureContextOptions, 'cert' | 'key' | 'ca' | 'minVersion'>;

export function pathsOf({ certificate, key, clientAuthority }: TlsPaths): readonly string[] {
  return [certificate, key, ...(clientAuthority === undefined ? [] : [clientAuthority])];
}

export function parseTls(paths: TlsPaths, files: Files): Parsed<TlsMaterial> {
  const missing = pathsOf(paths).filter((path) => (files.get(path) ?? '') === '');
  if (missing.length > 0)
    return { kind: 'faults', faults: missing.map((path) => `${path}: expected a PEM file, found none that can be read`) };
  const faults = [...certificateFaults(paths, files), ...pairFaults(paths, files)];
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'ok', value: materialOf(paths, files) };
}

function certificateFaults({ certificate, clientAuthority }: TlsPaths, files: Files): readonly string[] {
  const paths = [certificate, ...(clientAuthority === undefined ? [] : [clientAuthority])];
  return paths
    .filter((path) => !isCertificate(files.get(path) ?? ''))
    .map((path) => `${path}: expected a certificate in PEM, found none`);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

// The messages of OpenSSL name the fault, never the content of the files.
function pairFaults(paths: TlsPaths, files: Files): readonly string[] {
  try {
    createSecureContext(materialOf(paths, files));
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown error';
    return [`${paths.key}: expected the private key of ${paths.certificate} in PEM, found something else (${why})`];
  }
}

function materialOf({ certificate, key, clientAuthority }: TlsPaths, files: Files): TlsMaterial {
  const ca = clientAuthority === undefined ? {} : { ca: files.get(clientAuthority) ?? '' };
  return { cert: files.get(certificate) ?? '', key: files.get(key) ?? '', minVersion: 'TLSv1.2', ...ca };
}
