// The credentials of callers, read from the files that the configuration names, and reloaded while the hook runs.
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import { type Followed, follow, type Parsed } from './files.ts';
import type { Access } from './guard.ts';
import { parseTls, pathsOf, type TlsMaterial } from './tls.ts';
import { parseTokens, type Tokens, tokenPaths } from './tokens.ts';

export interface OpenAccess {
  readonly access: Access;
  /** Reloads the files: if they are invalid the hook keeps the previous ones and logs it once. */
  readAgain(log: FastifyBaseLogger, renewTls: (material: TlsMaterial) => void): void;
}

type Followers = Partial<Record<'tokens', Followed<Tokens>> & Record<'certificates', Followed<TlsMaterial>>>;

export function openAccess({ tokenDirectory, tls }: Pick<Config, 'tokenDirectory' | 'tls'>): Parsed<OpenAccess> {
  const paths = tokenDirectory === undefined ? undefined : tokenPaths(tokenDirectory);
  const tokens = paths && follow<Tokens>({ paths, parse: (files) => parseTokens(paths, files) });
  const certificates = tls && follow<TlsMaterial>({ paths: pathsOf(tls), parse: (files) => parseTls(tls, files) });
  const faults = [tokens, certificates].flatMap((result) => (result?.kind === 'faults' ? result.faults : []));
  if (faults.length > 0) return { kind: 'faults', faults };
  return {
    kind: 'ok',
    value: accessOf({
      ...(tokens?.kind === 'ok' && { tokens: tokens.value }),
      ...(certificates?.kind === 'ok' && { certificates: certificates.value }),
    }),
  };
}

function accessOf({ tokens, certificates }: Followers): OpenAccess {
  return {
    access: {
      acceptsToken: tokens && ((token) => tokens.value.accepts(token)),
      tls: certificates?.value,
    },
    readAgain(log, renewTls) {
      whenRead(log, tokens, ({ count }) => log.info({ accepted: count }, 'reloaded caller tokens'));
      whenRead(log, certificates, (material) => {
        renewTls(material);
        log.info('reloaded certificates');
      });
    },
  };
}

function whenRead<Value>(log: FastifyBaseLogger, followed: Followed<Value> | undefined, take: (value: Value) => void): void {
  const found = followed?.readAgain();
  if (found?.kind === 'ok') take(found.value);
  if (found?.kind === 'faults') log.warn({ faults: found.faults }, 'reloaded credentials are invalid; keeping the previous ones');
}
