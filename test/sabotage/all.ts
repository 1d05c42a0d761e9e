import { authority } from './list/adversary.ts';
import { attribution } from './list/attribution.ts';
import { calls } from './list/calls.ts';
import { commandLine } from './list/command-line.ts';
import { others } from './list/company.ts';
import { expressions } from './list/expressions.ts';
import { gateDiagnosis } from './list/gate-diagnosis.ts';
import { gates } from './list/gates.ts';
import { locks } from './list/locks.ts';
import { manifests } from './list/manifests.ts';
import { packageTransactions } from './list/package-transactions.ts';
import { packages } from './list/packages.ts';
import { plans } from './list/plans.ts';
import { recreations } from './list/recreations.ts';
import { releases } from './list/releases.ts';
import { served } from './list/served.ts';
import { storage } from './list/snapshots.ts';
import { sources } from './list/sources.ts';
import { undo } from './list/undo.ts';
import { inWindows } from './list/windows.ts';
import { words } from './list/words.ts';
import { writers } from './list/writers.ts';
import { writes } from './list/writes.ts';
import type { Sabotage } from './sabotage.ts';

export const sabotages: readonly Sabotage[] = [
  ...writes,
  ...storage,
  ...attribution,
  ...undo,
  ...locks,
  ...calls,
  ...writers,
  ...inWindows,
  ...words,
  ...others,
  ...served,
  ...authority,
  ...releases,
  ...recreations,
  ...packages,
  ...packageTransactions,
  ...plans,
  ...gates,
  ...gateDiagnosis,
  ...expressions,
  ...manifests,
  ...sources,
  ...commandLine,
];
