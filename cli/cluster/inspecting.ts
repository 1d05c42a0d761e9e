// Connects the inspection of a Transaction to the cluster. It reads as the user, and writes nothing.
import { randomBytes } from 'node:crypto';
import { brotliDecompressSync } from 'node:zlib';
import type { AccessQuestion, Answer, Identity, Location, Reader } from '../../hooks/objects/cluster.ts';
import { textAt } from '../../hooks/objects/json.ts';
import type { PlanParts } from '../../hooks/transactions/inspection.ts';
import { createSealer } from '../../server/kubernetes/sealer.ts';
import { manifestsInProcess } from '../../server/manifests/yaml-text.ts';
import { contentSecretOf, secretNameOf } from './content-secrets.ts';
import type { Session } from './session.ts';

interface Inspecting {
  readonly engineNamespace: string;
  readonly actAs: PlanParts['actAs'];
  /** Contents of Secrets that apply would store first, and a name for their Secret. */
  readonly contents?: Contents;
}

interface Contents {
  readonly namespace: string;
  readonly name: string;
  /** Whether the API server will generate the name. Then the ServiceAccount needs the right to read any Secret. */
  readonly isGenerated: boolean;
  readonly texts: Readonly<Record<string, string>>;
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
        return program.kind === 'fault' ? { why: program.message } : {};
      },
      evaluate: async () => ({ kind: 'broken', message: 'a plan evaluates nothing' }),
    },
  };
}

/** A reader that treats the Secret with the contents as existing, for every client that may read it. */
function withContents(reader: Reader, contents: Contents): Reader {
  const { namespace, name, texts } = contents;
  const isIts = ({ resource, ...place }: Location): boolean =>
    resource.kind === 'Secret' && resource.group === '' && place.namespace === namespace && place.name === name;
  const question = realQuestion({ verb: 'get', group: '', resource: 'secrets', namespace, name }, contents);
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
    allowed: (asked, identity) => reader.allowed(realQuestion(asked, contents), identity),
    dryRun: reader.dryRun,
  };
}

/** The question to ask the API server. It leaves out a generated name, because no rule can contain that name yet. */
export function realQuestion(
  question: AccessQuestion,
  { namespace, name, isGenerated }: Omit<Contents, 'texts'>,
): AccessQuestion {
  const isIts = question.resource === 'secrets' && question.namespace === namespace && question.name === name;
  if (!isIts || !isGenerated) return question;
  const { name: _, ...unnamed } = question;
  return unnamed;
}

const forbidden = { kind: 'refused', code: 403, reason: 'Forbidden', message: '', fields: [], definitive: true } as const;

const mostExpanded = 32 * 1024 * 1024;

/** Expands a compressed entry of a snapshot (server/kubernetes/sealer.ts, compress); undefined for any other text. */
export function expand(text: string): string | undefined {
  try {
    return brotliDecompressSync(Buffer.from(text, 'base64'), { maxOutputLength: mostExpanded }).toString('utf8');
  } catch {
    return undefined;
  }
}

/** The name of the Secret in a plan. A Transaction without a name gets a placeholder. */
export function contentsName(transaction: Parameters<typeof textAt>[0]): string {
  const name = textAt(transaction, 'metadata', 'name') ?? `${textAt(transaction, 'metadata', 'generateName')}plan`;
  return secretNameOf(name);
}
