// A rollback over two releases, with a fault before and after each request: it brings back what was there after the first release,
// managedFields included, and its undo brings back what was there before it. The releases themselves have no faults.
import { canonicalJson, type JsonObject } from '../../hooks/objects/json.ts';
import { type Calm, type Case, caseOf } from './case.ts';
import { allTargets, type Evidence, type Objects } from './evidence.ts';
import { violations } from './invariants.ts';
import { canaryOf, type Names } from './names.ts';
import { portrait } from './run.ts';
import { askedBack } from './stories.ts';
import { base64, type Story } from './story.ts';

const text = (data: JsonObject, kind: string): JsonObject =>
  kind === 'Secret' ? Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(String(value))])) : data;

function content(name: string, data: JsonObject, kind = 'ConfigMap'): JsonObject {
  return { apiVersion: 'v1', kind, metadata: { name }, data: text(data, kind) };
}

const applied = (...given: Parameters<typeof content>): JsonObject => ({ type: 'Apply', content: content(...given) });

const secretOf = (names: Names): JsonObject => ({ color: 'blue', canary: canaryOf(names) });

const releases: Story['earlier'] = (names) => {
  const { a, b, c, d } = names;
  return {
    r1: [applied(b, { color: 'green', only: 'one' }), applied(c, { size: 'large' }), applied(d, secretOf(names), 'Secret')],
    r2: [
      applied(b, { color: 'red' }),
      { type: 'Delete', target: { apiVersion: 'v1', kind: 'Secret', name: d } },
      applied(a, { made: 'yes' }),
    ],
    r3: [applied(b, { color: 'black', more: 'yes' }), applied(a, { made: 'again' }), applied(c, { size: 'small' })],
  };
};

/** In the order of the engine: what stays or comes back as the first release has it, then what goes. */
function restored(names: Names): readonly JsonObject[] {
  const { a, b, c, d } = names;
  const restore = (type: string, what: JsonObject): JsonObject => {
    const { apiVersion = 'v1', kind = '' } = what;
    const { name = '' } = what.metadata as JsonObject;
    return { type, target: { apiVersion, kind, name }, content: what };
  };
  return [
    restore('Update', content(b, { color: 'green', only: 'one' })),
    restore('Update', content(c, { size: 'large' })),
    restore('Create', content(d, secretOf(names), 'Secret')),
    restore('Delete', content(a, {})),
  ];
}

const forth: Story = {
  id: 'rollback',
  isAlone: true,
  given: () => [],
  earlier: releases,
  transactions: (names) => ({ [names.run]: restored(names) }),
  // The engine finds the changes.
  spec: { fieldManager: 'release', changes: undefined as never, rollback: { to: 'r1' } },
  events: [],
  end: 'Committed',
  content: (names) => {
    const { a, b, c, d } = names;
    return new Map<string, JsonObject | undefined>([
      [a, undefined],
      [b, { data: { color: 'green', only: 'one' } }],
      [c, { data: { size: 'large' } }],
      [d, { data: text(secretOf(names), 'Secret') }],
    ]);
  },
};

const { content: _first, ...uncommitted } = forth;

const back: Story = { ...uncommitted, id: 'rollback-undone', events: [askedBack], end: 'RolledBack' };

export const rollbackStories: readonly Story[] = [forth, back];

export function rollbackCases(story: Story, { calls }: Calm): readonly Case[] {
  return calls.flatMap(({ number }) =>
    (['before', 'after'] as const).map((kind) =>
      caseOf(['S25', story.id, number, kind], story, { faults: new Map([[number, { kind }]]) }, asAfterTheFirst),
    ),
  );
}

function asAfterTheFirst(evidence: Evidence): readonly string[] {
  const { story, after, releases: states } = evidence;
  const found = violations(evidence);
  return story.end === 'Committed' ? [...found, ...differences(evidence, after, states?.get('r1'))] : found;
}

function differences(evidence: Evidence, is: Objects, was: Objects | undefined): readonly string[] {
  return allTargets(evidence).flatMap(({ key }) => {
    const [found, wanted] = [is, was].map((objects) => canonicalJson((portrait(objects?.get(key), true) ?? null) as JsonObject));
    return found === wanted ? [] : [`${key} is not as after the first release: ${found}, expected ${wanted}`];
  });
}
