// The API server as the caller may see it. The command line reads as the caller the objects that the engine reads as itself
// (ServiceAccounts, Leases). The caller may lack the right. Then such an object counts as the engine mostly finds it, and is named
// as unseen.
import type { AccessAnswer, Answer, Identity, Location, Reader } from '../../objects/cluster.ts';
import { engine, leases, serviceAccounts } from '../writes/resources.ts';

export interface RestrictedReader {
  readonly reader: Reader;
  /** Marks something as unseen. */
  miss(what: string): void;
  unseen(): readonly string[];
  /** The API server's clock, in ms, as of its last answer; undefined before the first. */
  now(): number | undefined;
}

const forbidden = 403;

export function eyesOf(plain: Reader, actAs: 'serviceAccount' | 'caller'): RestrictedReader {
  const missed = new Set<string>();
  const answers = new Map<string, Promise<AccessAnswer>>();
  let time: number | undefined;
  const as = (identity: Identity): Identity => (actAs === 'caller' ? engine : identity);
  const timed = <Answered extends { readonly kind: string }>(answer: Answered): Answered => {
    if (answer.kind === 'ok' && 'serverTime' in answer && typeof answer.serverTime === 'number')
      time = Math.max(time ?? 0, answer.serverTime);
    return answer;
  };
  const readable = (answer: Answer, location: Location, identity: Identity): Answer => {
    const what = identity.kind === 'engine' && isForbidden(answer) ? unseenOf(location) : undefined;
    if (what === undefined) return answer;
    missed.add(what.name);
    return what.answer;
  };
  const reader: Reader = {
    get: async (location, identity) => readable(timed(await plain.get(location, as(identity))), location, identity),
    getMetadata: async (location, identity) => timed(await plain.getMetadata(location, as(identity))),
    listMetadata: async (resource, namespace, identity, options) =>
      timed(await plain.listMetadata(resource, namespace, as(identity), options)),
    resource: plain.resource,
    resources: plain.resources,
    // Stages ask for the same permissions again.
    allowed(question, identity) {
      const key = JSON.stringify([question, as(identity)]);
      const answer = answers.get(key) ?? plain.allowed(question, as(identity));
      answers.set(key, answer);
      return answer;
    },
    dryRun: async (write) => timed(await plain.dryRun({ ...write, identity: as(write.identity) })),
  };
  return { reader, miss: (what) => void missed.add(what), unseen: () => [...missed], now: () => time };
}

export function isForbidden(answer: Answer): boolean {
  return answer.kind === 'failed' && answer.failure.code === forbidden;
}

function unseenOf({ resource, namespace, name }: Location): { readonly name: string; readonly answer: Answer } | undefined {
  switch (resource) {
    case serviceAccounts:
      return { name: `whether ServiceAccount ${namespace}/${name} exists`, answer: { kind: 'ok', object: {}, serverTime: 0 } };
    case leases:
      return { name: `the locks, Leases in namespace ${namespace}`, answer: { kind: 'failed', failure: noLease } };
    default:
      return undefined;
  }
}

const noLease = { kind: 'absent', code: 404, reason: 'NotFound', message: '', fields: [], definitive: true } as const;
