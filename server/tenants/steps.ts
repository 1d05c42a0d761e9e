// After a long step for one tenant, the tenant's next step waits several times as long while other tenants call. So the small calls of
// other tenants take most of the thread, and rarely meet a long step.

import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../hooks/objects/limits.ts';
import { aroundSteps } from '../../hooks/objects/requests/loop-turns.ts';

/** ms after its last call in which a tenant still counts as a caller. */
const recent = 1_000;

interface Tenant {
  /** How many calls are in progress. */
  calls: number;
  endedAt: number;
  /** When the present step began. */
  stepFrom: number | undefined;
  nextStepAt: number;
}

const tenants = new Map<string, Tenant>();
const current = new AsyncLocalStorage<{ readonly tenant: Tenant; pauseLeft: number }>();

/** Runs a call of that tenant, a namespace. */
export async function callOf<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
  const tenant = tenants.get(name) ?? { calls: 0, endedAt: 0, stepFrom: undefined, nextStepAt: 0 };
  tenants.set(name, tenant);
  tenant.calls += 1;
  try {
    return await current.run({ tenant, pauseLeft: limits.pausesOfCall.value }, call);
  } finally {
    tenant.calls -= 1;
    tenant.endedAt = performance.now();
    for (const [other, one] of tenants) if (!isCalling(one)) tenants.delete(other);
  }
}

function isCalling({ calls, endedAt }: Tenant): boolean {
  return calls > 0 || performance.now() - endedAt < recent;
}

aroundSteps({ pause, began });

function began(): void {
  const tenant = current.getStore()?.tenant;
  if (tenant === undefined) return;
  tenant.stepFrom = performance.now();
  setImmediate(end, tenant);
}

// It runs in the next turn of the event loop, or earlier if the work needs another turn.
function end(tenant: Tenant): void {
  if (tenant.stepFrom === undefined) return;
  const now = performance.now();
  tenant.nextStepAt = now + limits.pauses.value * (now - tenant.stepFrom);
  tenant.stepFrom = undefined;
}

function pause(): Promise<void> | undefined {
  const call = current.getStore();
  if (call === undefined) return undefined;
  end(call.tenant);
  const ms = Math.min(call.tenant.nextStepAt - performance.now(), call.pauseLeft);
  if (ms < 1 || !othersCall(call.tenant)) return undefined;
  call.pauseLeft -= ms;
  return sleep(ms);
}

function othersCall(tenant: Tenant): boolean {
  for (const one of tenants.values()) if (one !== tenant && isCalling(one)) return true;
  return false;
}
