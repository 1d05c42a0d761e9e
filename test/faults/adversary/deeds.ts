// What the adversary does, as a table. A deed is begun anew in each case and tried between the requests of the engine until it is
// done; whoever does it at every request begins again.
import { configMapPlace } from '../places.ts';
import { copies, twoParts } from './copies.ts';
import { edits } from './edits.ts';
import { forge, forgeries } from './forgeries.ts';
import { events, others } from './others.ts';
import { dataOf, edit, marksIn, post, remove, type Scene, storedParts, transactionIn, uidLabel } from './scene.ts';
import { earlierTries } from './tries.ts';

/** Gives whether it was done: before, he tries again at the next request. */
export type Attempted = (scene: Scene) => Promise<boolean>;

export interface Deed {
  readonly id: string;
  readonly begin: () => Attempted;
  /** When there is something to do it to. */
  readonly when: 'at any time' | 'before it is stored' | 'once it is stored';
  /** It takes from the Transaction what it stands on: then SnapshotBroken is a right end as well. */
  readonly breaks: boolean;
  /** A person's change of a target comes in between: what comes of it depends on when, and what is said of it must be so. */
  readonly isOvertaken?: true;
  /** For stories with this many Transactions or parts. */
  readonly needs?: 'two transactions' | 'two parts';
  /** Its own beginning: the process dies once the snapshot is stored and before the status names it. */
  readonly afterCrash?: true;
}

const names: Readonly<Record<string, (run: string, uid: string) => string>> = {
  first: (run) => `${run}-rollback`,
  second: (run, uid) => `${run}-${uid.slice(0, 8)}-rollback`,
};

/** Under the names that everybody could know once. */
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

/** Where he has seen one: the name of a next part, with which nothing is taken from anybody. */
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

/** In the place of the stored one. */
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

/** One that is held by our finalizer alone. */
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

/** So far our name was everybody's: a copy of what is stored, with the marks of ours, under another name of that kind. */
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

/** A mark on a target that has been written already: where nothing is left to do, it must not be taken for ours. */
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
  events,
];
