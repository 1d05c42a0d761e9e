// A change that an earlier one of its Transaction makes possible, both ways: with it, it is admitted, and undone exactly; without
// it, it is refused and nothing is applied.
import type { Test } from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { commit, itemsOf, undoAll } from './round-trip.ts';
import type { Stage } from './stage.ts';
import { stepToEnd } from './stepping.ts';
import { portraits } from './targets.ts';

interface Pair {
  readonly name: string;
  readonly earlier: JsonObject;
  readonly later: JsonObject;
  /** Paths of what they change. */
  readonly paths: readonly string[];
  readonly note: RegExp;
  /** Whether the later change is tried alone: not if the API server would be waited for. */
  readonly isAloneTried?: boolean;
}

export async function bothWays(
  t: Test,
  stage: Stage,
  { name, earlier, later, paths, note, isAloneTried = true }: Pair,
): Promise<void> {
  const identity = (shown: readonly unknown[]): string =>
    JSON.stringify(shown).replaceAll(/"(uid|creationTimestamp)":"[^"]*",?/g, '');
  const before = identity(await portraits(stage.client, paths));
  if (isAloneTried) {
    await showRefused(t, stage, `${name}-alone`, later);
    t.equal(identity(await portraits(stage.client, paths)), before, 'nothing was written');
  }

  const status = await commit(stage, name, [earlier, later]);
  const [first, second] = itemsOf(status);
  t.equal(at(first, 'note'), undefined);
  t.match(textAt(second, 'note'), note);
  t.not(identity(await portraits(stage.client, paths)), before);
  await undoAll(stage, name);
  t.equal(identity(await portraits(stage.client, paths)), before, 'all is as before');
}

async function showRefused(t: Test, stage: Stage, name: string, later: JsonObject): Promise<void> {
  await stage.transaction(name, [later]);
  const { phase, status } = await stepToEnd(stage, name);
  t.equal(phase, 'Failed');
  t.match(
    textAt(status, 'message'),
    /^nothing was applied: spec\.changes\[0\].* (was refused by a dry run|cannot be changed in place|could not be restored)/,
  );
}
