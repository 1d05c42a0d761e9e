import {
  accountCheck,
  type Check,
  callCheck,
  controllerCheck,
  type EngineNamespaces,
  engineCheck,
  kindCheck,
  metacontrollerChecks,
  userCheck,
} from '../cluster/health.ts';
import type { Session } from '../cluster/session.ts';
import { mustAnswer } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { sayAll } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { documentOf } from '../show/document.ts';
import { healthLines } from '../show/health.ts';
import { clientVersion } from './client-version.ts';
import { outputStyle, saidAsData } from './given.ts';

export async function run(call: Call): Promise<number> {
  const { io, options } = call;
  const session = await call.connect();
  await mustAnswer(session);
  const places = {
    engineNamespace: options.text('engineNamespace'),
    metacontrollerNamespace: options.text('metacontrollerNamespace'),
  };
  const checks = await checksOf(session, places, options.text('serviceAccount'));
  if (!saidAsData(call, () => documentOf('Doctor', { client: clientVersion, checks })))
    sayAll(io, [`client ${clientVersion}`, ...healthLines(checks, outputStyle(io, options))]);
  return checks.some(({ state }) => state === 'wrong') ? exits.notDone : exits.done;
}

async function checksOf(session: Session, places: EngineNamespaces, account: string | undefined): Promise<readonly Check[]> {
  return [
    await kindCheck(session),
    await engineCheck(session, places),
    ...(await metacontrollerChecks(session, places)),
    await controllerCheck(session),
    await seen('calls', callCheck(session)),
    await userCheck(session),
    ...(account === undefined ? [] : [await accountCheck(session, account)]),
  ];
}

/** A list that the API server refuses is no fault of the engine. */
async function seen(name: string, check: Promise<Check>): Promise<Check> {
  try {
    return await check;
  } catch (error) {
    if (error instanceof Problem) return { name, state: 'unknown', message: error.message };
    throw error;
  }
}
