// Whom the hook trusts to sign the certificates of registries: the authorities of the system, and those of the administrator.
import { createHash, X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { createLruCache } from '../../hooks/objects/lru-cache.ts';
import { invalid } from './trouble.ts';

export interface Trust {
  readonly context: SecureContext;
  /** Equal for equal authorities. */
  readonly key: string;
}

/** Undefined: the authorities of the system alone. Throws a Trouble if the text has no certificates. */
type Trusting = (pem: string | undefined) => Trust | undefined;

/** A context holds some hundred certificates, and takes some 10 ms. */
const most = 4;

export function createTrusting(): Trusting {
  const known = createLruCache<Trust>({ most });
  return (pem) => {
    if (pem === undefined) return undefined;
    const key = createHash('sha256').update(pem).digest('hex');
    const trust = known.get(key) ?? { key, context: contextOf(certificatesIn(pem)) };
    known.set(key, trust);
    return trust;
  };
}

function contextOf(certificates: readonly string[]): SecureContext {
  return createSecureContext({ ca: [...getCACertificates('default'), ...certificates] });
}

const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificatesIn(pem: string): readonly string[] {
  const found = pem.match(block) ?? [];
  if (found.length === 0 || !found.every(isCertificate))
    throw invalid('JANUS_PACKAGES_AUTHORITY: expected certificates in PEM, found something else');
  return found;
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}
