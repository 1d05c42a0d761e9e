// Somebody else writes between any two requests. What they write after the engine has read the object is never lost, and writes
// outside of the content that we change never stop us.
import { at, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Answer, must } from '../support/client.ts';
import { type Calm, type Case, caseOf } from './case.ts';
import { allTargets, contentOf, type Evidence, type Target } from './evidence.ts';
import { violations } from './invariants.ts';
import { namesOf } from './names.ts';
import type { PortCall } from './port.ts';
import type { Run } from './run.ts';
import { base64, type Story } from './story.ts';

type Letter = 'b' | 'c' | 'd';

interface ForeignWrite {
  readonly id: string;
  readonly act: (run: Run, target: Target) => Promise<Answer>;
  /** What must remain in the object, if it was written after the engine read the object for its snapshot. */
  readonly isKept: (object: JsonObject | undefined) => boolean;
  /** Not content: it stops neither a commit nor an undo. */
  readonly isNoContent?: boolean;
  /** Only for kinds with a status subresource. */
  readonly needsStatus?: boolean;
}

const manager = { fieldManager: 'stranger' };

function patching(patch: (target: Target) => Json, subresource = ''): ForeignWrite['act'] {
  return ({ world }, target) => world.stranger.patch(target.path + subresource, patch(target), 'merge', manager);
}

/** A ConfigMap holds text, a Secret base64. */
function dataOf({ kind }: Target, key: string, value: string): JsonObject {
  return kind === 'Widget' ? { spec: { [key]: value } } : { data: { [key]: kind === 'Secret' ? base64(value) : value } };
}

function has(key: string, value: string): ForeignWrite['isKept'] {
  return (object) =>
    [textAt(object, 'data', key), textAt(object, 'spec', key)].some((is) => is === value || is === base64(value));
}

const always = (): boolean => true;
const annotated = { metadata: { annotations: { theirs: 'yes' } } };
const finalizer = 'faults.test/theirs';

const writes: readonly ForeignWrite[] = [
  { id: 'other-field', act: patching((target) => dataOf(target, 'theirs', 'yes')), isKept: has('theirs', 'yes') },
  { id: 'same-field', act: patching((target) => dataOf(target, 'color', 'red')), isKept: has('color', 'red') },
  {
    id: 'annotation',
    act: patching(() => annotated),
    isKept: (object) => textAt(object, 'metadata', 'annotations', 'theirs') === 'yes',
    isNoContent: true,
  },
  {
    id: 'label',
    act: patching(() => ({ metadata: { labels: { theirs: 'yes' } } })),
    isKept: (object) => textAt(object, 'metadata', 'labels', 'theirs') === 'yes',
  },
  {
    id: 'status',
    act: patching(() => ({ status: { theirs: 'yes' } }), '/status'),
    isKept: always,
    isNoContent: true,
    needsStatus: true,
  },
  { id: 'no-op', act: putAgain, isKept: always, isNoContent: true },
  { id: 'delete', act: ({ world }, { path }) => world.stranger.delete(path), isKept: (object) => object === undefined },
  { id: 'delete-and-create', act: replace, isKept: has('whose', 'theirs') },
  {
    id: 'finalizer',
    act: patching(() => ({ metadata: { finalizers: [finalizer] } })),
    isKept: (object) => isList(at(object, 'metadata', 'finalizers')),
  },
];

async function putAgain({ world: { stranger } }: Run, { path }: Target): Promise<Answer> {
  const found = await stranger.get(path);
  return found.code === 200 ? stranger.update(path, found.body, manager) : found;
}

async function replace({ world: { stranger } }: Run, target: Target): Promise<Answer> {
  const { path, collection, name, kind, reference } = target;
  const deleted = await stranger.delete(path);
  if (deleted.code !== 200) return deleted;
  const object = { apiVersion: reference.apiVersion, kind, metadata: { name }, ...dataOf(target, 'whose', 'theirs') };
  return stranger.create(collection, object, manager);
}

/** The stories with Widgets show what only kinds with a status subresource can show. */
export function foreignCases(story: Story, { calls }: Calm): readonly Case[] {
  const isOfWidgets = story.id.includes('widgets');
  const kinds = writes.filter(
    ({ id, needsStatus }) => !isOfWidgets || needsStatus === true || id === 'same-field' || id === 'no-op',
  );
  return lettersOf(story).flatMap((letter) =>
    calls
      .filter(concerning(letter))
      .flatMap(({ number }) =>
        kinds
          .filter(({ needsStatus }) => isOfWidgets || needsStatus !== true)
          .map((write) => foreignCase(story, { number, letter, write })),
      ),
  );
}

/**
 * A write to an object can change places with a request that neither reads nor writes it, and nothing differs. So somebody writes
 * before each request that concerns the object, and before the first of each call of the hook: that covers all other moments.
 */
function concerning(letter: Letter): (call: PortCall, index: number, all: readonly PortCall[]) => boolean {
  return ({ method, name, hookCall }, index, all) =>
    name.endsWith(`-${letter}`) || method === 'listMetadata' || all[index - 1]?.hookCall !== hookCall;
}

const letters: readonly Letter[] = ['b', 'c', 'd'];

/** With names that no run has. */
function planned(story: Story): Pick<Evidence, 'story' | 'names'> {
  return { story, names: namesOf(0, { namespace: 'some', elsewhere: 'other' }) };
}

/** What the story changes of the objects that are there. */
function lettersOf(story: Story): readonly Letter[] {
  const named = planned(story);
  return letters.filter((letter) => allTargets(named).some(({ name }) => name === named.names[letter]));
}

/** It is deleted: for good, or to be created again. */
function isDeleted({ type, recreates }: Target): boolean {
  return type === 'Delete' || recreates;
}

interface Made {
  readonly number: number;
  readonly letter: Letter;
  readonly write: ForeignWrite;
}

function foreignCase(story: Story, made: Made): Case {
  // A client cannot write a missing object, an immutable one, or a version that was replaced meanwhile.
  let wasWritten = false;
  const act = async (run: Run): Promise<void> => {
    const answer = await made.write.act(run, targetOf(run, made.letter));
    wasWritten = ![404, 409, 422].includes(answer.code);
    if (wasWritten) must(answer);
  };
  const named = planned(story);
  return caseOf(
    ['S10', story.id, made.number, made.letter, made.write.id],
    // If somebody's finalizer holds a deleted object, the undo can only wait, until its timeout.
    made.write.id === 'finalizer' && isDeleted(targetOf(named, made.letter))
      ? { ...story, spec: { ...story.spec, timeout: '1m' } }
      : story,
    (run) => ({ faults: new Map([[made.number, { kind: 'gap', act: () => act(run()), inOrder: true }]]) }),
    (evidence) => evaluate(evidence, made, wasWritten),
  );
}

function targetOf(named: Pick<Evidence, 'story' | 'names'>, letter: Letter): Target {
  const target = allTargets(named).find(({ name }) => name === named.names[letter]);
  if (target === undefined) throw new Error(`story ${named.story.id} has no target ${letter}`);
  return target;
}

// Their writes are part of the state to keep, so comparisons with the prior state skip that object.
function evaluate(evidence: Evidence, made: Made, wasWritten: boolean): readonly string[] {
  const target = targetOf(evidence, made.letter);
  const others = violations(evidence).filter((text) => !text.startsWith('I1 ') && !text.startsWith('I4'));
  const untouched = violations(evidence).filter((text) => text.startsWith('I1 ') && made.write.id === 'no-op');
  return [
    ...others,
    ...untouched,
    ...(wasWritten ? lost(evidence, made, target) : []),
    ...falseConflicts(evidence, made, target),
  ];
}

function lost({ after, portCalls }: Evidence, { number, write }: Made, target: Target): readonly string[] {
  const { key, name } = target;
  const stored =
    portCalls.find(({ what }) => /^send create ConfigMap .*-rollback/.test(what))?.number ?? Number.POSITIVE_INFINITY;
  // After a conflict in a dry run the engine reads again before it stores the state.
  const read = portCalls.findLast((call) => call.method === 'get' && call.name === name && call.number < stored);
  const lastRead = read?.number ?? Number.POSITIVE_INFINITY;
  // Non-content is lost with a deleted object. Whoever deletes what we delete gets what they want. A finalizer delays the
  // deletion.
  const isEither = isDeleted(target) && (write.isNoContent === true || write.id === 'delete' || write.id === 'finalizer');
  return number > lastRead && !isEither && !write.isKept(after.get(key))
    ? [`lost: ${write.id} of ${key}, which is ${JSON.stringify(contentOf(after.get(key)))}`]
    : [];
}

function falseConflicts({ ends, story }: Evidence, { write }: Made, target: Target): readonly string[] {
  if (write.isNoContent !== true || (isDeleted(target) && write.id === 'annotation')) return [];
  const wrong = [...ends].filter(([, status]) => textAt(status, 'phase') !== story.end);
  return wrong.map(
    ([name, status]) => `false conflict: ${name} ends as ${textAt(status, 'phase')}: ${textAt(status, 'message')}`,
  );
}
