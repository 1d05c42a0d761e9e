// Deletes a Transaction in each of its phases, in every possible way. Nothing of the engine's remains, nothing hangs, and applied
// changes are undone first if there is somebody who may undo them.
import { textAt } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from '../support/client.ts';
import { partial } from '../support/round-trip.ts';
import { account } from '../support/stage.ts';
import { change } from '../support/targets.ts';
import { type Case, caseOf } from './case.ts';
import type { Evidence } from './evidence.ts';
import { violations } from './invariants.ts';
import type { Names } from './names.ts';
import { configMapPlace } from './places.ts';
import { oneByOne } from './run.ts';
import { askBack, askedBack, commit4, fourChanges, green } from './stories.ts';
import { type Story, type StoryEvent, transactionPath } from './story.ts';
import type { World } from './world.ts';

type Act = StoryEvent['act'];
type When = StoryEvent['when'];

const isIn =
  (phase: string): When =>
  (status) =>
    textAt(status, 'phase') === phase;

/** How a phase is reached, if not by going on. */
const ways: Readonly<Record<string, readonly StoryEvent[]>> = {
  Pending: [],
  Preparing: [],
  Prepared: [],
  Committing: [],
  Committed: [],
  RollingBack: [askedBack],
  RolledBack: [askedBack],
  Failed: [{ when: isIn('Committed'), act: spoilAndAskBack }],
};

/** A change that somebody else has made since cannot be undone. */
async function spoilAndAskBack({ stranger, controller }: World, names: Names): Promise<void> {
  const { path } = configMapPlace(names.namespace, names.c);
  must(await stranger.patch(path, { data: { color: 'violet' } }, 'merge', { fieldManager: 'stranger' }));
  await askBack(controller, names, partial);
}

const cascade =
  (propagationPolicy: string): Act =>
  ({ controller }, { namespace, run }) =>
    controller.delete(transactionPath(namespace, run), { propagationPolicy });

const kinds: Readonly<Record<string, Act>> = {
  background: cascade('Background'),
  foreground: cascade('Foreground'),
  orphan: cascade('Orphan'),
  namespace: deleteNamespace,
  'account-gone': deleteAccount,
  'forced-off': forceOff,
};

async function deleteNamespace({ controller }: World, { namespace, run }: Names): Promise<void> {
  must(await controller.delete(`/api/v1/namespaces/${namespace}`));
  const isReached = async (): Promise<boolean> => isDeleted(controller, transactionPath(namespace, run));
  await waitFor(isReached, `the deletion of ${namespace} to reach its Transaction`);
}

async function isDeleted(controller: Client, path: string): Promise<boolean> {
  const { code, body } = await controller.get(path);
  return code === 404 || textAt(body, 'metadata', 'deletionTimestamp') !== undefined;
}

async function deleteAccount({ controller }: World, { namespace, run }: Names): Promise<void> {
  must(await controller.delete(`/api/v1/namespaces/${namespace}/serviceaccounts/${account}`));
  must(await controller.delete(transactionPath(namespace, run)));
}

async function forceOff({ controller }: World, { namespace, run }: Names): Promise<void> {
  const path = transactionPath(namespace, run);
  must(await controller.patch(path, { metadata: { finalizers: null } }));
  await controller.delete(path);
}

/**
 * Another Transaction holds the lock of an object that this one needs: only then is a Pending status stored. The other one is in
 * another namespace, and goes on whatever happens to this one.
 */
function held(story: Story): Story {
  const holder = ({ c, namespace }: Names): readonly ReturnType<typeof change>[] => [
    change('Patch', c, { data: { held: 'yes' } }, { namespace }),
  ];
  return {
    ...story,
    transactions: (names) => ({ [rivalOf(names)]: holder(names), [names.run]: fourChanges(names) }),
    ends: (names) => ({ [rivalOf(names)]: 'Committed' }),
  };
}

function rivalOf({ elsewhere, rival }: Names): string {
  return `${elsewhere}/${rival}`;
}

function storyOf(phase: string, kind: string): Story {
  const story: Story = {
    id: `${phase}-${kind}`,
    transactions: commit4.transactions,
    annotations: { 'tx.janus.io/automatic-rollback': 'true' },
    events: [...(ways[phase] ?? []), { when: isIn(phase), act: kinds[kind] ?? cascade('Background') }],
    end: 'gone',
    isAlone: kind === 'namespace' || kind === 'account-gone',
    isSlow: kind === 'namespace',
  };
  return phase === 'Pending' ? held(story) : story;
}

// Such a phase is stored only if a call handles one target.
function isPassing(phase: string): boolean {
  return phase === 'Preparing' || phase === 'Committing';
}

export const deletionCases: readonly Case[] = Object.keys(ways).flatMap((phase) =>
  Object.keys(kinds).map((kind) =>
    caseOf(['S13', phase, kind], storyOf(phase, kind), isPassing(phase) ? { timing: oneByOne } : {}, (evidence) =>
      evaluate(evidence, phase, kind),
    ),
  ),
);

// A deleted namespace takes its objects with it. Without the ServiceAccount, or without a finalizer, no call undoes the applied
// changes.
function evaluate(evidence: Evidence, phase: string, kind: string): readonly string[] {
  const isUndone = !['namespace', 'account-gone', 'forced-off'].includes(kind);
  const others = violations(evidence).filter((text) => text.includes(' ends as ') || !/^I(1|4|14) /.test(text));
  const found = kind === 'namespace' ? others.filter((text) => !text.includes('rival ends as')) : others;
  return isUndone && phase !== 'Pending' ? [...found, ...objectsAre(evidence, phase)] : found;
}

/** Committed changes stay, Failed ones leave what could not be undone, all others are undone. */
function objectsAre(evidence: Evidence, phase: string): readonly string[] {
  const { names } = evidence;
  if (phase === 'Committed')
    return violations({ ...evidence, story: { ...evidence.story, content: commit4.content } as Story }).filter(isOfObjects);
  const left = phase === 'Failed' ? [names.c] : [];
  const spoiled = new Map(left.map((name) => [name, { data: { ...green, applied: 'yes', color: 'violet' } }]));
  return violations({ ...evidence, story: { ...evidence.story, content: () => spoiled } }).filter(isOfObjects);
}

function isOfObjects(text: string): boolean {
  return text.startsWith('I1 outcome') && !text.includes(' ends as ');
}
