// The program that notices a CRD which somebody has deleted: each replica checks once a minute, also if nothing wakes a Package. Beside
// Crossplane it does not run: Crossplane makes the CRD again. It writes the condition of the revision, and the Package decides what follows.
import { perform, writerUntil } from '../objects/requests/perform.ts';
import type { PackageParts } from './call.ts';
import { readAbsences, readPresent } from './observe/absence.ts';
import { absenceWrite } from './writes/absence.ts';

/** Checks once. Returns the names of the revisions whose condition it has written; rejects if a read failed. */
export type DefinitionCheck = () => Promise<readonly string[]>;

export function createDefinitionCheck(parts: Pick<PackageParts, 'cluster' | 'gzip' | 'namespace'>): DefinitionCheck {
  const { cluster, gzip, namespace } = parts;
  const reader = { cluster, gzip, namespace };
  let whole: string | undefined;
  return async () => {
    const present = await readPresent(reader);
    if (present.text === whole) return [];
    const { changed, isWhole, now } = await readAbsences(reader, present);
    whole = isWhole ? present.text : undefined;
    // Another replica, or a package transaction, has written the revision since.
    const settledBy = ['absent', 'stale', 'refused'] as const;
    const mutations = changed.map((one) => ({ write: absenceWrite(one, now, namespace), settledBy }));
    if (mutations.length === 0) return [];
    await perform(
      { kind: 'sequence', mutations },
      writerUntil(cluster, () => false),
    );
    return mutations.map(({ write }) => write.location.name);
  };
}
