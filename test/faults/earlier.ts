// The Transactions that a story has before it begins: made and forgotten by an engine without faults.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { account } from '../support/stage.ts';
import { turn } from './drive.ts';
import type { Objects } from './evidence.ts';
import { createBoard } from './port.ts';
import { createTransaction, type Run, read, startEngine, targets } from './run.ts';
import { pathOfTransaction } from './story.ts';

/** A guard against an endless run. */
const mostTurns = 100;

/** The targets after each, by its name. */
export async function makeEarlier(run: Run): Promise<ReadonlyMap<string, Objects>> {
  const states = new Map<string, Objects>();
  const calm = withoutFaults(run);
  for (const [name, changes] of Object.entries(run.story.earlier?.(run.names) ?? {})) {
    const spec: JsonObject = { serviceAccountName: account, changes, fieldManager: run.story.spec?.fieldManager ?? name };
    await createTransaction(run, name, { spec });
    await toRest(calm, name);
    states.set(name, await targets(run));
  }
  // What they wrote is no part of the story.
  if (states.size > 0) run.world.audit.take(run.names.run);
  return states;
}

export async function forgetEarlier(run: Run): Promise<void> {
  const calm = withoutFaults(run);
  for (const name of Object.keys(run.story.earlier?.(run.names) ?? {})) {
    must(await run.world.controller.delete(pathOfTransaction(run.names, name)));
    await toRest(calm, name);
  }
}

function withoutFaults(run: Run): Run {
  const board = createBoard(new Map());
  return { ...run, board, options: {}, hookCalls: [], lateAnswers: [], engine: startEngine(run.world, board) };
}

async function toRest(run: Run, name: string): Promise<void> {
  for (let turns = 0; turns < mostTurns; turns += 1) if ((await turn(run, name)) || (await read(run, name)) === undefined) return;
  throw new Error(`Transaction ${name} is not at rest after ${mostTurns} calls`);
}
