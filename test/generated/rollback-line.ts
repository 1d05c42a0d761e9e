// Plays the history of a line of releases (rollback-histories.ts), and its twin: the releases up to one of them, and what others have done.
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { kinds, patchOf } from './busy.ts';
import { type Data, type Edited, type Held, objects } from './histories.ts';
import { changesOf, type Line, nameOf, pathOf, type State, statesOf } from './line.ts';
import type { Given, Placed, RollbackHistory, Turn } from './rollback-histories.ts';

interface Release {
  readonly held: Held;
  /** What the release before it held. */
  readonly before: Held | undefined;
  /** The objects that it changes. */
  readonly touched: readonly number[];
  readonly isCommitted: boolean;
  /** `kept`: the object that its undo has kept. */
  undone?: { readonly kept: number | undefined };
  isForgotten?: true;
}

export interface Played extends Line {
  readonly releases: Release[];
  /** By release: the objects after it, before the turns that follow. */
  readonly states: (readonly State[])[];
  /** What was done, as far as it has changed anything. */
  readonly turns: Placed[];
}

const request = 'tx.janus.io/request-rollback';

export async function playsHistory(line: Line, { releases, turns }: RollbackHistory): Promise<Played> {
  const played: Played = { ...line, releases: [], states: [], turns: [] };
  for (const [at_, held] of releases.entries()) {
    const before = played.releases.findLast(isStanding)?.held;
    await plays(played, at_, { held, before, among: allObjects });
    for (const { after, turn } of turns) if (after === at_) await takes(played, { after, turn });
  }
  return played;
}

/** The releases after `to` are left out, but what a deleted one of them has left counts as the work of others. */
export async function playsTwin(line: Line, played: Played, to: number): Promise<void> {
  const twin: Played = { ...line, releases: [], states: [], turns: [] };
  for (const [at_, { held, before }] of played.releases.entries()) {
    const among = at_ <= to ? allObjects : leftBy(played.releases, at_, to);
    if (among.length > 0) await plays(twin, at_, { held, before, among });
    const turns = played.turns.filter(({ after, turn }) => after === at_ && (at_ < to || isOfOthers(turn)));
    for (const one of turns) await takes(twin, one);
  }
}

const allObjects = [...objects.keys()];

/** Whether it can be undone, and stay. */
export function isStanding({ isCommitted, undone, isForgotten }: Release): boolean {
  return isCommitted && undone === undefined && isForgotten === undefined;
}

export function isOfOthers({ kind }: Turn): boolean {
  return kind !== 'undo' && kind !== 'forget';
}

/** The objects that keep the values of a deleted release after the rollback: the rollback undoes no release between. */
function leftBy(releases: readonly Release[], forgotten: number, to: number): readonly number[] {
  const { isForgotten, undone, touched = [] } = releases[forgotten] ?? {};
  if (isForgotten !== true || undone !== undefined) return [];
  return touched.filter((object) => !isUndoneBetween(releases, object, { from: to, until: forgotten }));
}

/** Whether the rollback undoes a change of the object by a release after `from`, and up to `until`. */
export function isUndoneBetween(
  releases: readonly Release[],
  object: number,
  { from, until }: { readonly from: number; readonly until: number },
): boolean {
  return releases.some((one, at_) => at_ > from && at_ <= until && isStanding(one) && one.touched.includes(object));
}

interface Contents extends Pick<Release, 'held' | 'before'> {
  readonly among: readonly number[];
}

async function plays(played: Played, at_: number, { held, before, among }: Contents): Promise<void> {
  const changes = changesOf(played, held, before).filter(([object]) => among.includes(object));
  const status = await commits(
    played,
    releaseName(played, at_),
    changes.map(([, change]) => change),
  );
  const isCommitted = textAt(status, 'phase') === 'Committed';
  const touched = isCommitted ? changes.map(([object]) => object) : [];
  played.releases[at_] = { held, before, touched, isCommitted };
  played.states[at_] = await statesOf(played);
}

export const releaseName = ({ id }: Line, at_: number): string => `${id}-r${at_}`;

/** Resolves with the status when it has ended. */
export async function commits(
  { stage, id }: Line,
  name: string,
  changes: readonly JsonObject[],
  spec: JsonObject = {},
): Promise<JsonObject> {
  // ReplicaSets go with a Deployment.
  const annotations = { 'tx.janus.io/allow-irreversible': 'true' };
  await stage.transaction(name, changes, { spec: { fieldManager: `line-${id}`, ...spec }, annotations });
  return stage.finished(name);
}

async function takes(played: Played, { after, turn }: Placed): Promise<void> {
  const taken = await takesTurn(played, turn);
  if (taken !== undefined) played.turns.push({ after, turn: taken });
}

/** What it has changed; undefined for nothing. */
async function takesTurn(played: Played, turn: Turn): Promise<Turn | undefined> {
  if (turn.kind === 'undo') return undoes(played, turn.kept);
  if (turn.kind === 'forget') return forgets(played, turn);
  const now = (await statesOf(played))[turn.object];
  if (now === undefined) return undefined;
  if (turn.kind === 'edit') return edits(played, turn, now);
  await (turn.kind === 'apply' ? applies(played, turn) : recreates(played, turn));
  return turn;
}

async function edits(played: Played, edit: Edited, now: Data): Promise<Turn | undefined> {
  const { client } = played.stage;
  const path = pathOf(played, edit.object);
  if (edit.data === undefined) {
    must(await client.delete(path));
    return { kind: 'edit', ...edit };
  }
  const data = Object.fromEntries(Object.entries(edit.data).filter(([key, value]) => now[key] !== value));
  if (Object.keys(data).length === 0) return undefined;
  must(await client.patch(path, patchOf(edit.object, data), 'merge', { fieldManager: 'kubectl-edit' }));
  return { kind: 'edit', ...edit, data };
}

async function applies(played: Played, { object, data }: Given): Promise<void> {
  const content = { ...kinds[object]?.type, ...patchOf(object, data) };
  must(await played.stage.client.apply(pathOf(played, object), content, { fieldManager: 'gitops', force: true }));
}

async function recreates(played: Played, { object, data }: Given): Promise<void> {
  const { client, path } = played.stage;
  const [kind, name] = [kinds[object], nameOf(played.id, object)];
  must(await client.delete(pathOf(played, object)));
  await isGone(played, pathOf(played, object));
  const { metadata, ...content } = kind?.content(data, name) ?? {};
  const whole = { ...kind?.type, metadata: { ...(metadata as JsonObject), name }, ...content };
  must(await client.create(path(kind?.place ?? ''), whole, { fieldManager: 'kubectl-create' }));
}

function isGone({ stage }: Line, path: string): Promise<true> {
  return waitFor(async () => ((await stage.client.get(path)).code === 404 ? true : undefined), `${path} to go`);
}

async function undoes(played: Played, kept: number | undefined): Promise<Turn | undefined> {
  const { stage, id, releases } = played;
  const at_ = releases.findLastIndex(isStanding);
  const release = releases[at_];
  if (release === undefined) return undefined;
  const isKept = kept !== undefined && release.touched.includes(kept);
  const keep = isKept ? { 'tx.janus.io/undo-keep': `${textAt(kinds[kept]?.type, 'kind')}/${nameOf(id, kept)}` } : {};
  const name = releaseName(played, at_);
  await stage.annotate(name, { ...keep, [request]: '1' });
  const status = await waitFor(async () => {
    const found = at(await stage.read(name), 'status');
    const isAnswered = textAt(found, 'handledAnnotations', request) === '1' && textAt(found, 'phase') !== 'RollingBack';
    return isAnswered ? found : undefined;
  }, `the answer to the undo of ${name}`);
  // It is refused as Committed. It ends as Failed if others have deleted an object: that one stays away.
  if (textAt(status, 'phase') === 'Committed') return undefined;
  release.undone = { kept: isKept ? kept : undefined };
  return { kind: 'undo', kept: release.undone.kept };
}

async function forgets(played: Played, turn: Extract<Turn, { kind: 'forget' }>): Promise<Turn | undefined> {
  const { stage, releases } = played;
  const release = releases[turn.release];
  if (release === undefined || release.isForgotten === true) return undefined;
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${releaseName(played, turn.release)}`;
  must(await stage.client.delete(path));
  await isGone(played, path);
  release.isForgotten = true;
  return turn;
}
