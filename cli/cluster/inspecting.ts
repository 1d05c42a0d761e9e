// What the inspection of a Transaction needs of this process: it reads as the user, and writes nothing.
import { randomBytes } from 'node:crypto';
import { brotliDecompressSync } from 'node:zlib';
import type { Answer, Identity, Location, Reader } from '../../hooks/cluster.ts';
import type { PlanParts } from '../../hooks/inspection.ts';
import { textAt } from '../../hooks/model/json.ts';
import { createSealer } from '../../server/kubernetes/sealer.ts';
import { manifestsInProcess } from '../../server/manifests/yaml-text.ts';
import { contentSecretOf, secretNameOf } from './content-secrets.ts';
import type { Session } from './session.ts';

interface Inspecting {
  readonly engineNamespace: string;
  readonly actAs: PlanParts['actAs'];
  /** Contents of Secrets that apply would store first, and the name that stands for their Secret. */
  readonly contents?: { readonly namespace: string; readonly name: string; readonly texts: Readonly<Record<string, string>> };
}

export function partsFor({ cluster }: Session, { engineNamespace, actAs, contents }: Inspecting): PlanParts {
  const ring = { current: 'plan', keys: new Map([['plan', randomBytes(32)]]) };
  return {
    ...{ engineNamespace, actAs },
    reader: contents === undefined ? cluster : withContents(cluster, contents),
    clock: { monotonic: () => performance.now() },
    manifests: manifestsInProcess,
    sealer: createSealer(() => ring),
    expressions: {
      async compile(text) {
        const { compile } = await import('../../server/expressions/program.ts');
        const program = compile(text);
        return program.kind === 'fault' ? program.message : undefined;
      },
      evaluate: async () => ({ kind: 'broken', message: 'a plan evaluates nothing' }),
    },
  };
}

/** A reader for which the Secret with the contents is there already, for whoever may read it. */
function withContents(reader: Reader, { namespace, name, texts }: NonNullable<Inspecting['contents']>): Reader {
  const isIts = ({ resource, ...place }: Location): boolean =>
    resource.kind === 'Secret' && resource.group === '' && place.namespace === namespace && place.name === name;
  const question = { verb: 'get', group: '', resource: 'secrets', namespace, name };
  const object = contentSecretOf({ name, namespace }, texts);
  const read = async (identity: Identity): Promise<Answer> => {
    const access = await reader.allowed(question, identity);
    if (access.kind === 'failed') return access;
    return access.allowed ? { kind: 'ok', object, serverTime: 0 } : { kind: 'failed', failure: forbidden };
  };
  return {
    get: (location, identity) => (isIts(location) ? read(identity) : reader.get(location, identity)),
    getMetadata: reader.getMetadata,
    listMetadata: reader.listMetadata,
    resource: reader.resource,
    resources: reader.resources,
    allowed: reader.allowed,
    dryRun: reader.dryRun,
  };
}

const forbidden = { kind: 'refused', code: 403, reason: 'Forbidden', message: '', fields: [], definitive: true } as const;

const mostExpanded = 32 * 1024 * 1024;

/** A compressed entry of a snapshot (server/kubernetes/sealer.ts, compress); undefined if it is none. */
export function expand(text: string): string | undefined {
  try {
    return brotliDecompressSync(Buffer.from(text, 'base64'), { maxOutputLength: mostExpanded }).toString('utf8');
  } catch {
    return undefined;
  }
}

/** The name under which the contents of a Transaction without a name are planned. */
export function contentsName(transaction: Parameters<typeof textAt>[0]): string {
  const name = textAt(transaction, 'metadata', 'name') ?? `${textAt(transaction, 'metadata', 'generateName')}plan`;
  return secretNameOf(name);
}
