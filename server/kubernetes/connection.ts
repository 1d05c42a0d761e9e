// Where the API server is and how the hook authenticates, as plain values for its own requests: from a kubeconfig, or from the
// files of a Pod. Credentials are read again every few seconds and after each 401, since tokens and certificates rotate.

/** What a TLS connection is made with. If it changes (a rotated certificate), new connections are made. */
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
  /** Base address; a path in it (a gateway's) stands before every path of the API. */
  readonly server: URL;
  /** An HTTP proxy that all requests go through. */
  readonly proxy?: string;
  /** The credentials to use now. Rejects if they cannot be read (an exec plugin failed, a file does not exist). */
  credentials(): Promise<Credentials>;
  /** The same, if they are in memory. */
  known(): Credentials | undefined;
  /** To be called on 401: the next credentials are read again. */
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
 * Throws what the first `load` throws. Credentials with an empty token are refused, as client-go does: they are nobody's; and those of
 * another API server, which a kubeconfig names that was changed since.
 */
export function createConnection(load: () => CredentialSource): Connection {
  let source = load();
  let reload = false;
  let current: Current | undefined;
  const { href } = source.server;
  const read = async () => {
    if (reload) source = load();
    // The credentials of another cluster are not sent to this one.
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

// The API server takes a request without a token for one of system:anonymous and refuses it for good: 403, and no 401 that is retried.
function somebodys(credentials: Credentials): Credentials {
  if (credentials.headers.authorization?.trim() === 'Bearer') throw new Error(emptyToken);
  return credentials;
}
