// The scenarios with real processes, in the order of `npm run faults`.
import type { ProcessScenario } from './case.ts';
import { freezesOn } from './freezes.ts';
import { killsOn } from './kills.ts';
import { outagesOn } from './outages.ts';
import { randomEndsOn } from './random.ts';
import { replicasOn } from './replicas.ts';
import { restartsOn, turnsOn } from './turns.ts';

export const processScenarios: readonly ProcessScenario[] = [
  { id: 'S19', what: 'the control plane ends, comes again, or is put back', hooks: 0, mostAtOnce: 1, casesOn: outagesOn },
  { id: 'S20:kill', what: 'SIGKILL of the hook at every request', hooks: 1, mostAtOnce: 8, casesOn: killsOn },
  { id: 'S20:random', what: 'SIGKILL and SIGTERM at random moments', hooks: 1, mostAtOnce: 8, casesOn: randomEndsOn },
  { id: 'S20:freeze', what: 'frozen at a write, awake when all is over', hooks: 0, mostAtOnce: 12, casesOn: freezesOn },
  { id: 'S20:replicas', what: 'two hooks and two loops at once', hooks: 2, mostAtOnce: 4, casesOn: replicasOn },
  { id: 'S20:turns', what: 'two and three hooks, each call to another one', hooks: 0, mostAtOnce: 4, casesOn: turnsOn },
  { id: 'S20:restarts', what: 'sixty Transactions, hooks ended every 4 s', hooks: 0, mostAtOnce: 1, casesOn: restartsOn },
];
