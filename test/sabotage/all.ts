// At most sixty entries, one or more for each promise of docs/guarantees.md.
import { calls } from './list/calls.ts';
import { features } from './list/features.ts';
import { undo } from './list/undo.ts';
import { writes } from './list/writes.ts';
import type { Sabotage } from './sabotage.ts';

export const sabotages: readonly Sabotage[] = [...writes, ...undo, ...calls, ...features];
