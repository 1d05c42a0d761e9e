// Locks expire, are deleted, or are taken over by another Transaction, which is then at any point of its way; the process stands
// still, or its clock is wrong. After a takeover the former holder writes nothing while another one holds the lock.
import { textAt } from '../../hooks/objects/json.ts';
import { lockName } from '../../hooks/objects/reference.ts';
import { must } from '../support/client.ts';
import { engineNamespace } from '../support/install.ts';
import { change } from '../support/targets.ts';
import { type Calm, type Case, caseOf } from './case.ts';
import { turn } from './drive.ts';
import { allTargets, type Evidence, endOf, hasSucceeded, isBy, isWrite, transactionsOf } from './evidence.ts';
import { honestEnd } from './honest.ts';
import { violations } from './invariants.ts';
import { contentWrites } from './invariants-of-writes.ts';
import { advance, type Fault, type PortCall } from './port.ts';
import { type Run, startEngine } from './run.ts';
import { askedBack } from './stories.ts';
import type { Story } from './story.ts';

const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;

/** Locks are lost without a successor: they expire or are deleted; or time passes. */
export function lockCases(story: Story, { calls }: Calm): readonly Case[] {
  return calls.flatMap((call) => [
    ...[expire, removeLeases].map((act) =>
      caseOf(
        ['S12', story.id, call.number, act === expire ? 'expire' : 'remove'],
        story,
        (run) => ({ faults: new Map([[call.number, { kind: 'gap', act: () => act(run()) }]]) }),
        act === expire ? violations : honestEnd,
      ),
    ),
    ...stalls(call).map((fault) =>
      caseOf(['S12', story.id, call.number, `${fault.of}-${fault.milliseconds / 1000}s`], story, {
        faults: new Map([[call.number, fault]]),
      }),
    ),
  ]);
}

type Delay = Extract<Fault, { kind: 'delay' }>;

/** The API server refuses a write that comes after its time; a read may be delayed before it too. */
function stalls({ method }: PortCall): readonly Delay[] {
  const answers = [0.9, 35, 600].map((seconds) => ({ kind: 'delay', of: 'answer', milliseconds: seconds * 1000 }) as const);
  const request = { kind: 'delay', of: 'request', milliseconds: method === 'send' ? 900 : 35_000 } as const;
  return [...answers, request];
}

async function expire({ world: { controller }, story, names }: Run): Promise<void> {
  await Promise.all(
    allTargets({ story, names }).map(async ({ reference }) => {
      const renewTime = '2026-01-01T00:00:00.000000Z';
      const answer = await controller.patch(`${leases}/${lockName(reference)}`, { spec: { renewTime } });
      if (answer.code !== 404) must(answer);
    }),
  );
}

export async function removeLeases({ world: { controller }, story, names }: Run): Promise<void> {
  await Promise.all(allTargets({ story, names }).map(({ reference }) => controller.delete(`${leases}/${lockName(reference)}`)));
}

const taken: Story = {
  id: 'taken-in-commit',
  transactions: ({ run, rival, b, c }) => ({
    [run]: [change('Patch', b, { data: { mine: 'yes' } }), change('Patch', c, { data: { mine: 'yes' } })],
    [rival]: [change('Patch', c, { data: { theirs: 'yes' } }), change('Patch', b, { data: { theirs: 'yes' } })],
  }),
  asleep: ({ rival }) => [rival],
  events: [],
  end: 'Committed',
  isShared: true,
};

export const takenOver: readonly Story[] = [
  taken,
  { ...taken, id: 'taken-in-undo', events: [askedBack], end: 'RolledBack', ends: ({ rival }) => ({ [rival]: 'Committed' }) },
];

/** How far the Transaction that took the locks has come when the former holder goes on. */
const reached: Readonly<Record<string, (run: Run, phase: string) => boolean>> = {
  'holds-them': (_, phase) => phase === 'Preparing',
  'half-way': (_, phase) => phase === 'Committing',
  'at-rest': () => false,
};

export function takeoverCases(story: Story, { calls }: Calm): readonly Case[] {
  return calls.flatMap(({ number }) =>
    Object.keys(reached).map((how) =>
      caseOf(
        ['S12', story.id, number, how],
        story,
        (run) => ({ faults: new Map([[number, { kind: 'gap', act: () => takeOver(run(), how) }]]) }),
        afterTakeover,
      ),
    ),
  );
}

/** ms after which no lock holds any more: the default of spec.lockTimeout plus the resolution of times. */
export const lifeOfLocks = 5 * 60_000 + 3_000;

async function takeOver(run: Run, how: string): Promise<void> {
  await advance(run.world.cluster, run.board, lifeOfLocks);
  run.asleep.delete(run.names.rival);
  const other: Run = { ...run, engine: startEngine(run.world, run.board) };
  for (let calls = 0; calls < 40; calls += 1) {
    if (await turn(other, run.names.rival)) return;
    if (reached[how]?.(run, run.hookCalls.at(-1)?.phase ?? '') === true) return;
  }
}

/**
 * Any end is right if it is reported truthfully. The other Transaction must reach its own end, or fail because the locks were held: an
 * expired lock of a holder that has not ended is not taken over (L7).
 */
function afterTakeover(evidence: Evidence): readonly string[] {
  const rival = evidence.names.rival;
  const isWoken = evidence.ends.get(rival)?.phase !== undefined;
  const others = violations(evidence).filter((text) => !text.includes(' ends as ') && !/^I(6|14) /.test(text));
  const end = evidence.ends.get(rival);
  const phase = textAt(end, 'phase');
  const isHeldOff = phase === 'Failed' && / is locked by Transaction /.test(textAt(end, 'message') ?? '');
  return [
    ...others,
    ...lockedOut(evidence),
    ...(isWoken && !isHeldOff && phase !== endOf({ ...evidence, story: taken }, rival)
      ? [`the one that wanted the locks ends as ${phase}`]
      : []),
  ];
}

/** Successful writes to a target while another Transaction held its lock, both from the audit log. */
function lockedOut(evidence: Evidence): readonly string[] {
  return allTargets(evidence).flatMap((target) => {
    const holderAt = holders(evidence, lockName(target.reference));
    return contentWrites(evidence, target).flatMap((event) => {
      const { verb, received } = event;
      const writer = transactionsOf(evidence).find((name) => isBy(evidence, name, event)) ?? '';
      const holder = holderAt(received) ?? writer;
      return verb === 'delete' || holder === writer ? [] : [`${writer} wrote ${target.key} while ${holder} held its lock`];
    });
  });
}

/** The holder of a lock at a time. */
function holders(evidence: Evidence, lock: string): (time: string) => string | undefined {
  const events = evidence.events.filter(
    (event) => event.resource === 'leases' && event.name === lock && isWrite(event) && hasSucceeded(event),
  );
  return (time) => {
    const last = events.findLast(({ answered }) => answered < time);
    const holder = last?.verb === 'delete' ? undefined : textAt(last?.response, 'spec', 'holderIdentity');
    return transactionsOf(evidence).find((name) => holder?.endsWith(`/${evidence.uids.get(name)}`) === true);
  };
}
