// Counts package transactions by phase, and Packages that make their own package transactions by state.

import { makesOwn, type OwnMode, ownModes } from '../../hooks/crossplane/model/own.ts';
import { packageKinds } from '../../hooks/crossplane/model/package.ts';
import { isTerminal, phases } from '../../hooks/crossplane/model/status.ts';
import type { Resource } from '../../hooks/objects/cluster.ts';
import { textAt } from '../../hooks/objects/json.ts';
import { type Row, secondsOfAge } from '../kubernetes/tables.ts';
import type { Transport } from '../kubernetes/transport.ts';
import { type Active, eachRow, none, withOneMore } from './rows.ts';

/** `NotInstalled`: its package transaction has failed, or is refused and tried again. */
const ownStates = ['Installed', 'NotInstalled', 'InProgress', 'Deleting'] as const;

type OwnState = (typeof ownStates)[number];

export interface PackageInventory {
  /** Package transactions by every phase that is not terminal. */
  readonly byPhase: ReadonlyMap<string, Active>;
  /** Packages that make their own package transactions, by every state. The age is the time since their deletion. */
  readonly own: ReadonlyMap<OwnState, Active>;
}

interface Served {
  /** The namespace of the ServiceAccount that reads Packages. */
  readonly namespace: string;
  readonly own: OwnMode;
}

const shared = { namespaced: false, verbs: ['list'], group: 'pkg.crossplane.io', statusSubresource: false };
const transactions: Resource = { ...shared, version: 'v1alpha1', plural: 'transactions', kind: 'Transaction' };

export async function packageInventory(transport: Transport, served: Served): Promise<PackageInventory | undefined> {
  const [byPhase, own] = await Promise.all([countByPhase(transport), countOwn(transport, served)]);
  return byPhase === undefined || own === undefined ? undefined : { byPhase, own };
}

async function countByPhase(transport: Transport): Promise<ReadonlyMap<string, Active> | undefined> {
  const underWay: readonly string[] = phases.filter((phase) => !isTerminal(phase));
  const byPhase = new Map(underWay.map((phase) => [phase, none]));
  const isComplete = await eachRow(transport, [{ resource: transactions, namespace: undefined }], (row) => {
    const phase = row.cell('Phase') || 'Waiting';
    const before = byPhase.get(phase);
    if (before !== undefined) byPhase.set(phase, withOneMore(before, secondsOfAge(row.cell('Age')) ?? 0));
  });
  return isComplete ? byPhase : undefined;
}

async function countOwn(
  transport: Transport,
  { namespace, own: mode }: Served,
): Promise<ReadonlyMap<OwnState, Active> | undefined> {
  const own = new Map<OwnState, Active>();
  if (mode === ownModes.none) return own;
  for (const state of ownStates) own.set(state, none);
  const identity = { kind: 'serviceAccount', namespace, name: namespace } as const;
  const lists = packageKinds.map((kind) => ({
    resource: { ...shared, version: 'v1', plural: `${kind.toLowerCase()}s`, kind },
    namespace: undefined,
    hasMetadata: true,
    identity,
  }));
  const isComplete = await eachRow(transport, lists, (row, now) => {
    if (!makesOwn(mode, row.object)) return;
    const state = stateOf(row);
    own.set(state, withOneMore(own.get(state) ?? none, secondsSince(row, now)));
  });
  return isComplete ? own : undefined;
}

function stateOf(row: Row): OwnState {
  if (textAt(row.object, 'metadata', 'deletionTimestamp') !== undefined) return 'Deleting';
  const isInstalled = row.cell('Installed');
  if (isInstalled === 'True') return 'Installed';
  return isInstalled === 'False' ? 'NotInstalled' : 'InProgress';
}

/** Since its deletion; 0 if it is not being deleted. */
function secondsSince({ object }: Row, now: number): number {
  const deleted = Date.parse(textAt(object, 'metadata', 'deletionTimestamp') ?? '');
  return Number.isNaN(deleted) ? 0 : Math.max(0, now - deleted) / 1000;
}
