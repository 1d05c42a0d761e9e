// The options of undo and retry, as annotations. Annotations of options that are not given are removed: an earlier request may have left
// them.
import { annotations } from '../../hooks/transactions/model/transaction.ts';
import type { UndoAnswer } from '../../hooks/transactions/model/undo.ts';
import { kindsNamed } from '../cluster/kinds.ts';
import type { AnnotationChanges } from '../cluster/writes.ts';
import type { Call, Options } from '../command/command.ts';
import { kindsIn, selectionIn } from '../input/selections.ts';
import { Problem, wrongUse } from '../problem.ts';
import { refusedCode } from '../show/end.ts';

export interface Wish {
  readonly keep: string | undefined;
  readonly overwrite: string | undefined;
  readonly unlisted: string | undefined;
  readonly isPartial: boolean;
  readonly digest: string | undefined;
}

export const noWish: Wish = { keep: undefined, overwrite: undefined, unlisted: undefined, isPartial: false, digest: undefined };

/** Throws a Problem. */
export async function wishOf({ options, connect }: Pick<Call, 'options' | 'connect'>): Promise<Wish> {
  const given = (['keep', 'overwrite'] as const).map((name) => selectionIn(name, options.list(name)));
  const [keep = [], overwrite = []] = given;
  const both = keep.find((one) => overwrite.includes(one));
  if (both !== undefined) throw wrongUse(`--keep and --overwrite both name ${both}: give one of them. Nothing was written.`);
  const [unlisted, digest] = [kindsIn('unlisted', options.list('unlisted')), digestOf(options)];
  const named = async (names: readonly string[]) =>
    names.length === 0 ? undefined : (await kindsNamed(connect, names)).join(',');
  const choices = { keep: await named(keep), overwrite: await named(overwrite) };
  return { ...choices, unlisted, isPartial: options.flag('partial'), digest };
}

function digestOf(options: Options): string | undefined {
  const digest = options.text('digest');
  if (digest === undefined || /^[0-9a-f]{64}$/.test(digest)) return digest;
  throw wrongUse(`--digest takes the 64 hex digits that undo --plan prints; found "${digest}". Nothing was written.`);
}

/** Throws a Problem if the user has agreed to another plan. */
export function refuseOtherDigest({ digest }: Wish, answer: UndoAnswer): void {
  if (digest !== undefined && digest !== answer.digest)
    throw new Problem('The plan has another digest than --digest names: check the plan. Nothing was changed.', refusedCode);
}

export function annotationsOf({ keep, overwrite, unlisted, isPartial, digest }: Wish): AnnotationChanges {
  return {
    [annotations.undoKeep]: keep ?? null,
    [annotations.undoOverwrite]: overwrite ?? null,
    [annotations.undoUnlisted]: unlisted ?? null,
    [annotations.undoPartial]: isPartial ? 'true' : null,
    [annotations.undoDigest]: digest ?? null,
  };
}
