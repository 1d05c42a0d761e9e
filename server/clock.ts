// The clock of this process.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../hooks/objects/cluster.ts';

export const clock: Clock = { monotonic: () => performance.now(), sleep: (milliseconds) => sleep(milliseconds) };
