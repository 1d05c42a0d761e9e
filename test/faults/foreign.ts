// Somebody writes between any two calls. What they wrote after the engine had read the object is never lost, and what does not
// touch the content that we change never stops us.
import { at, type Json, textAt } from '../../hooks/model/json.ts';
import { must } from '../support/client.ts';
import { type Calm, type Case, caseOf } from './case.ts';
import type { Evidence } from './evidence.ts';
import { violations } from './invariants.ts';
import { configMapPath, type Run } from './run.ts';
import type { Story } from './stories.ts';

type Letter = 'b' | 'c' | 'd';

interface ForeignWrite {
  readonly id: string;
  readonly patch: Json;
  /** Where it is found afterwards. */
  readonly path: readonly string[];
  readonly value: string;
  /** What we change ourselves: it is a conflict. */
  readonly isSameField?: boolean;
}

const writes: readonly ForeignWrite[] = [
  { id: 'other-field', patch: { data: { theirs: 'yes' } }, path: ['data', 'theirs'], value: 'yes' },
  { id: 'same-field', patch: { data: { color: 'red' } }, path: ['data', 'color'], value: 'red', isSameField: true },
  {
    id: 'annotation',
    patch: { metadata: { annotations: { theirs: 'yes' } } },
    path: ['metadata', 'annotations', 'theirs'],
    value: 'yes',
  },
];

export function foreignCases(story: Story, { calls }: Calm): readonly Case[] {
  return calls.flatMap(({ number }) =>
    (['b', 'c', 'd'] as const).flatMap((letter) =>
      writes.map((write) =>
        caseOf(
          ['S10', story.id, number, letter, write.id],
          story,
          (run) => ({ faults: new Map([[number, { kind: 'gap', act: () => act(run(), letter, write) }]]) }),
          (evidence) => judge(evidence, { number, letter, write }),
        ),
      ),
    ),
  );
}

async function act(run: Run, letter: Letter, { patch }: ForeignWrite): Promise<void> {
  const path = configMapPath(run, run.names[letter]);
  const answer = await run.world.stranger.patch(path, patch, 'merge', { fieldManager: 'stranger' });
  if (answer.code !== 404) must(answer);
}

interface Made {
  readonly number: number;
  readonly letter: Letter;
  readonly write: ForeignWrite;
}

// What they wrote is part of the state that is to be kept, so the comparisons with the state before leave that object out.
function judge(evidence: Evidence, made: Made): readonly string[] {
  const name = evidence.names[made.letter];
  const others = violations(evidence).filter((text) => !text.startsWith('I1') && !text.startsWith('I4'));
  return [...others, ...lost(evidence, made, name), ...falseConflicts(evidence, made)];
}

function lost({ after, events, portCalls }: Evidence, made: Made, name: string): readonly string[] {
  const { number, write } = made;
  const wrote = events.some(
    (event) =>
      event.actor === 'stranger' &&
      event.verb === 'patch' &&
      event.name === name &&
      event.code === 200 &&
      event.fieldManager === 'stranger',
  );
  const firstRead = portCalls.find((call) => call.method === 'get' && call.name === name)?.number ?? Number.POSITIVE_INFINITY;
  // Annotations are no conflict, since controllers write them all the time: one that comes before a Delete goes with the object.
  if (made.letter === 'd' && write.id === 'annotation') return [];
  const isKept = textAt(after.get(name), ...write.path) === write.value;
  return wrote && number > firstRead && !isKept
    ? [`lost: ${write.id} of ${name} is ${JSON.stringify(at(after.get(name), ...write.path))}`]
    : [];
}

/** An annotation is nobody's content: it neither stops a commit nor an undo. */
function falseConflicts({ ends, story }: Evidence, { write, letter }: Made): readonly string[] {
  if (write.id !== 'annotation' || letter === 'd') return [];
  const wrong = [...ends].filter(([, status]) => textAt(status, 'phase') !== story.end);
  return wrong.map(
    ([name, status]) => `false conflict: ${name} ends as ${textAt(status, 'phase')}: ${textAt(status, 'message')}`,
  );
}
