import { mostLevels } from '../../hooks/objects/json.ts';
import type { Bounds } from '../yaml.ts';

/** The limits of one manifest. An API server accepts no request of more than 3 MiB; 2 MiB of a CRD have some 100 000 values. */
export const bounds: Bounds = { levels: mostLevels, values: 300_000, characters: 3 * 1024 * 1024 };
