// A plan of what was given on the command line, for all commands that make one.

import { plan } from '../../hooks/inspect.ts';
import type { Plan } from '../../hooks/inspection.ts';
import { type JsonObject, textAt } from '../../hooks/model/json.ts';
import { usualEngineNamespace } from '../cluster/engine.ts';
import { contentsName, partsFor } from '../cluster/inspecting.ts';
import type { Session } from '../cluster/session.ts';
import type { Call } from '../command/command.ts';
import { readManifests } from '../input/read.ts';
import { type Release, transactionIn, withContents } from '../input/release.ts';
import { sourcesOf } from './given.ts';
import { releaseOptionsOf } from './release-options.ts';

/** Throws a Problem. */
export async function planOfGiven(call: Call, actAs: 'serviceAccount' | 'caller'): Promise<Plan> {
  const { io, options } = call;
  const manifests = await readManifests(sourcesOf(options), io);
  const session = await call.connect();
  const release = transactionIn(manifests, releaseOptionsOf(call, session.namespace, manifests));
  return planOf(session, release, { actAs, engineNamespace: options.text('engineNamespace') ?? usualEngineNamespace });
}

interface Wanted {
  readonly actAs: 'serviceAccount' | 'caller';
  readonly engineNamespace: string;
}

/** Of a release that is read already. */
export function planOf(session: Session, { transaction, contents }: Release, wanted: Wanted): Promise<Plan> {
  if (Object.keys(contents).length === 0) return plan(partsFor(session, wanted), transaction);
  const name = contentsName(transaction);
  const namespace = textAt(transaction, 'metadata', 'namespace') ?? '';
  const parts = partsFor(session, { ...wanted, contents: { namespace, name, texts: contents } });
  return plan(parts, withContents(transaction, name) satisfies JsonObject);
}
