// What the adversary does, as a table. Each case starts its deed again, and tries it between the requests of the engine until it
// succeeds. A deed at every request starts again after that.
import { configMapPlace } from '../places.ts';
import { copies, twoParts } from './copies.ts';
import { edits } from './edits.ts';
import { forge, forgeries } from './forgeries.ts';
import { events, others } from './others.ts';
import { dataOf, edit, marksIn, post, remove, type Scene, storedParts, transactionIn, uidLabel } from './scene.ts';
import { sources } from './sources.ts';
import { earlierTries } from './tries.ts';

/** Returns whether the deed succeeded; if not, the adversary tries again at the next request. */
export type Attempted = (scene: Scene) => Promise<boolean>;

export interface Deed {
  readonly id: string;
  readonly begin: () => Attempted;
  /** The state that the deed needs. */
  readonly when: 'at any time' | 'before it is stored' | 'once it is stored';
  /** Whether the deed destroys the snapshot of the Transaction: then SnapshotBroken is a correct end too. */
  readonly breaks: boolean;
  /** A user also changes a target meanwhile. The result depends on when; what the status says of it must be true. */
  readonly isOvertaken?: true;
  /** What a story needs for this deed. */
  readonly needs?: 'two transactions' | 'two parts' | 'sources';
  /** The deed begins after a crash: the process dies once the snapshot is stored and before the status names it. */
  readonly afterCrash?: true;
}

const names: Readonly<Record<string, (run: string, uid: string) => string>> = {
  first: (run) => `${run}-rollback`,
  second: (run, uid) => `${run}-${uid.slice(0, 8)}-rollback`,
};

/** Under names that anybody can know. */
function known(name: string, kind: string): Deed {
  const begin = (): Attempted => async (scene) => {
    const transaction = await transactionIn(scene);
    const forgery = forgeries[kind];
    if (transaction === undefined || forgery === undefined) return false;
    const { metadata, data } = await forge(scene, transaction, forgery);
    const [run, uid] = [scene.run.names.run, scene.run.uids.get(scene.run.names.run) ?? ''];
    return post(scene, names[name]?.(run, uid) ?? '', metadata, data);
  };
  return { id: `post-${kind}-as-${name}`, begin, when: 'before it is stored', breaks: false };
}

/** After the adversary has seen a snapshot: under the name of its next part, where it takes nothing from anybody. */
function next(kind: string): Deed {
  const begin = (): Attempted => async (scene) => {
    const [transaction, parts] = [await transactionIn(scene), await storedParts(scene)];
    const [first, forgery] = [parts[0], forgeries[kind]];
    if (transaction === undefined || first === undefined || forgery === undefined) return false;
    const { metadata, data } = await forge(scene, transaction, forgery);
    return post(scene, `${first.name}-${parts.length}`, metadata, data);
  };
  return { id: `post-${kind}-as-next`, begin, when: 'once it is stored', breaks: false };
}

/** In the place of the stored snapshot. */
function instead(kind: string, afterCrash = false): Deed {
  const begin = (): Attempted => async (scene) => {
    const [transaction, parts] = [await transactionIn(scene), await storedParts(scene)];
    const [first, forgery] = [parts[0], forgeries[kind]];
    if (transaction === undefined || first === undefined || forgery === undefined) return false;
    const { metadata, data } = await forge(scene, transaction, forgery);
    await remove(scene, first.path);
    return post(scene, first.name, metadata, data);
  };
  const id = `post-${kind}-instead${afterCrash ? '-after-crash' : ''}`;
  return { id, begin, when: 'once it is stored', breaks: true, ...(afterCrash && { afterCrash: true }) };
}

/** A ConfigMap that only our finalizer still holds. */
const terminating: Deed = {
  id: 'post-terminating-as-first',
  when: 'before it is stored',
  breaks: false,
  begin: () => async (scene) => {
    const name = `${scene.run.names.run}-rollback`;
    const isPosted = await known('first', 'prior').begin()(scene);
    await scene.client.delete(configMapPlace(scene.run.names.namespace, name).path);
    return isPosted;
  },
};

/** A copy of the stored snapshot, with its marks, under a name that begins like ours: the engine's key does not give that name. */
const likeOurs: Deed = {
  id: 'copy-beside',
  when: 'once it is stored',
  breaks: false,
  begin: () => async (scene) => {
    const [first] = await storedParts(scene);
    if (first === undefined) return false;
    return post(scene, `${scene.run.names.run}-rollback-beside`, marksIn(first), dataOf(first));
  },
};

/** A mark on a target that is already written: once nothing is left to do, the engine must not take it for its own. */
export const markedTarget: Deed = {
  id: 'label-on-target',
  when: 'at any time',
  breaks: false,
  begin: () => async (scene) => {
    const transaction = await transactionIn(scene);
    if (transaction === undefined) return false;
    const { b, namespace, run } = scene.run.names;
    const labels = { [uidLabel]: scene.run.uids.get(run) ?? '' };
    return edit(scene, configMapPlace(namespace, b).path, { labels });
  },
};

const kinds = Object.keys(forgeries);
const some = ['prior', 'phantom-delete', 'tagged', 'nested', 'garbage'];

export const deeds: readonly Deed[] = [
  ...kinds.map((kind) => known('first', kind)),
  ...some.map((kind) => known('second', kind)),
  terminating,
  likeOurs,
  ...some.map(next),
  ...some.map((kind) => instead(kind)),
  ...some.map((kind) => instead(kind, true)),
  ...copies,
  ...twoParts,
  ...earlierTries,
  ...edits,
  ...others,
  ...sources,
  events,
];
