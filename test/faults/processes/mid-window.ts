// Events in the middle of a window. No status is stored there: one event comes before the window and takes effect in its middle, the
// other comes while the hook is stopped at the answer to a change.
import { setTimeout as sleep } from 'node:timers/promises';
import { textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { deleteMidCommit, failAt3 } from '../stories.ts';
import { type Story, transactionPath } from '../story.ts';
import type { Disturbance } from './follow.ts';

/** ms for which a reading of the Transaction counts, as shipped. */
const readAge = 1_000;

const isPrepared: Story['events'][number]['when'] = (status) => textAt(status, 'phase') === 'Prepared';

/** Somebody makes the object of the third change after its dry run. */
export const failInWindow: Story = {
  ...failAt3,
  id: 'fail-in-window',
  events: failAt3.events.map((event) => ({ ...event, when: isPrepared })),
};

/** Needs `armedAtThird` and `deletedAtThird`. */
export const deleteInWindow: Story = { ...deleteMidCommit, id: 'delete-in-window', events: [] };

/** The hook that makes the third change will be stopped at its answer. Before the Transaction is there: a window is soon over. */
export const armedAtThird: Disturbance = async ({ site, names }) => {
  const at = `PATCH /api/v1/namespaces/${names.namespace}/configmaps/${names.c}?`;
  const hooks = await Promise.all(site.seats.map(({ serving }) => serving));
  await Promise.all(hooks.map((hook) => hook.arm({ at, moment: 'after', signal: 'SIGSTOP' })));
};

/** Deletes the Transaction while the hook is stopped. The fourth change needs another look. */
export const deletedAtThird: Disturbance = async ({ site, world, names }) => {
  const hooks = await Promise.all(site.seats.map(({ serving }) => serving));
  const isStopped = (): boolean => hooks.some((hook) => hook.isStopped());
  await waitFor(isStopped, 'a hook to be stopped at the third change', { timeoutMs: 240_000 });
  must(await world.controller.delete(transactionPath(names.namespace, names.run)));
  await sleep(readAge);
  for (const hook of hooks) if (hook.isStopped()) hook.signal('SIGCONT');
  await Promise.all(hooks.map((hook) => hook.arm()));
};
