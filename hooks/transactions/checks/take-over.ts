// An object that another app has applied: an Apply under `spec.fieldManager` takes it over only if `spec.takeOver` names that app. A rollback
// and an undo bring back what was there, so they take nothing over.
import { isList, type Json, type JsonObject } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { appsOf } from '../model/marks.ts';
import { longestManager, managersOfChange, type Transaction } from '../model/transaction.ts';
import { type Fault, fault } from './fault.ts';
import type { Resolved } from './targets.ts';

type Owner = Pick<Transaction, 'namespace' | 'name' | 'uid' | 'fieldManager' | 'takeOver'>;

const mostApps = 16;

/** The faults of `spec.takeOver`, as far as it shows them alone. */
export function takeOverFaults({ fieldManager, takeOver }: Pick<Transaction, 'fieldManager' | 'takeOver'>): readonly Fault[] {
  if (takeOver === undefined) return [];
  if (!isList(takeOver) || takeOver.length === 0 || takeOver.length > mostApps || !takeOver.every(isName))
    return [fault('Invalid', `spec.takeOver must be a list of 1 to ${mostApps} field managers of apps`)];
  if (fieldManager === undefined)
    return [fault('Invalid', 'spec.takeOver has no meaning without spec.fieldManager: write both, or leave it out')];
  const isOwn = takeOver.includes(fieldManager);
  return isOwn
    ? [fault('Invalid', 'spec.takeOver names spec.fieldManager, whose objects it need not take over: leave it out')]
    : [];
}

function isName(name: Json): boolean {
  return typeof name === 'string' && /^[\x20-\x7e]+$/.test(name) && name.length <= longestManager;
}

/** The fault of a change whose object another app has applied; `found`: the object as it is. */
export function otherAppFault(
  { index, change, target }: Resolved,
  found: JsonObject | undefined,
  transaction: Owner,
): Fault | undefined {
  const { forward, holder } = managersOfChange(transaction, change);
  if (holder === undefined) return undefined;
  const others = appsOf(found).filter((app) => app !== forward && !allowedIn(transaction).includes(app));
  if (others.length === 0) return undefined;
  const names = named(others);
  const message = `spec.changes[${index}]: ${describe(target)} was applied by another app, ${names}: leave it out, or take it over with takeOver: [${names}] in spec`;
  return fault('OtherApp', message, index);
}

function allowedIn({ takeOver }: Pick<Transaction, 'takeOver'>): readonly Json[] {
  return isList(takeOver) ? takeOver : [];
}

function named(apps: readonly string[]): string {
  return apps.map((app) => foreign(app, longestManager)).join(', ');
}

interface Found {
  readonly resolved: Resolved;
  readonly prior: JsonObject | undefined;
}

/** The faults of apps in `spec.takeOver` that have applied none of the objects: a wrong name must not pass in silence. */
export function unusedTakeOver(all: readonly Found[], transaction: Owner): readonly Fault[] {
  const wanted = allowedIn(transaction);
  if (wanted.length === 0) return [];
  const applied = all.flatMap(({ resolved, prior }) =>
    managersOfChange(transaction, resolved.change).holder === undefined ? [] : appsOf(prior),
  );
  const found = applied.length === 0 ? 'no app did' : `${named([...new Set(applied)].slice(0, mostApps))} did`;
  return wanted
    .filter((app) => !applied.some((one) => one === app))
    .map((app) =>
      fault(
        'OtherApp',
        `spec.takeOver: ${named([String(app)])} has applied none of the objects, ${found}: correct it, or leave it out`,
      ),
    );
}
