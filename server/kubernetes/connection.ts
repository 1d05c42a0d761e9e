// The address of the API server and the credentials of the hook, as plain values for its requests. They come from a kubeconfig, or from
// the files of a Pod. The hook reads credentials again every few seconds, and after each 401, because tokens and certificates rotate.

/** The options of a TLS connection. If they change, for example because a certificate rotates, the hook makes new connections. */
export interface TlsSettings {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsSettings;
}

export interface Connection {
  /** The base address. Its path, for example that of a gateway, precedes every path of the API. */
  readonly server: URL;
  /** An HTTP proxy that all requests go through. */
  readonly proxy?: string;
  /** The credentials to use now. Rejects if they cannot be read (an exec plugin failed, a file does not exist). */
  credentials(): Promise<Credentials>;
  /** The credentials to use now, if they are in memory. */
  known(): Credentials | undefined;
  /** Call it on 401: the next credentials are read again. */
  refused(): void;
}

/** A kubeconfig, or the files of a Pod, once loaded. */
export interface CredentialSource {
  readonly server: URL;
  readonly proxy?: string;
  read(): Promise<Credentials>;
}

const longestUse = 5_000;

interface Current {
  readonly until: number;
  readonly credentials: Promise<Credentials>;
  known: Credentials | undefined;
}

/**
 * Throws the error of the first `load`. It refuses credentials with an empty token, as client-go does, because they identify no user. It
 * also refuses credentials for another API server: the kubeconfig may have changed since.
 */
export function createConnection(load: () => CredentialSource): Connection {
  let source = load();
  let reload = false;
  let current: Current | undefined;
  const { href } = source.server;
  const read = async () => {
    if (reload) source = load();
    // The hook must not send the credentials of another cluster to this cluster.
    if (source.server.href !== href) throw new Error(otherServer);
    reload = false;
    return somebodys(await source.read());
  };
  return {
    server: source.server,
    ...(source.proxy === undefined ? {} : { proxy: source.proxy }),
    credentials() {
      if (current !== undefined && performance.now() < current.until) return current.credentials;
      const reading: Current = { until: performance.now() + longestUse, credentials: read(), known: undefined };
      current = reading;
      reading.credentials.then(
        (credentials) => {
          reading.known = credentials;
        },
        () => {
          current = undefined;
        },
      );
      return reading.credentials;
    },
    known: () => (current !== undefined && performance.now() < current.until ? current.known : undefined),
    refused() {
      current = undefined;
      reload = true;
    },
  };
}

export const otherServer = 'expected the API server of the first connection, found another one: start again';
export const emptyToken = 'expected a token, found an empty one';

// The API server treats a request without a token as a request of system:anonymous. It answers with 403 for good, not with a 401, which
// the hook would retry.
function somebodys(credentials: Credentials): Credentials {
  if (credentials.headers.authorization?.trim() === 'Bearer') throw new Error(emptyToken);
  return credentials;
}
