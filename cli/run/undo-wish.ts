// The options of undo and retry, as annotations. Annotations of options that are not given are removed: an earlier request may have left
// them.
import { annotations } from '../../hooks/transactions/model/transaction.ts';
import type { UndoAnswer } from '../../hooks/transactions/model/undo.ts';
import type { AnnotationChanges } from '../cluster/writes.ts';
import type { Options } from '../command/command.ts';
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

/** Throws a Problem. */
export function wishOf(options: Options): Wish {
  const keep = selectionIn('keep', options.list('keep'));
  const overwrite = selectionIn('overwrite', options.list('overwrite'));
  const both = keep?.split(',').find((one) => overwrite?.split(',').includes(one));
  if (both !== undefined) throw wrongUse(`--keep and --overwrite both name ${both}: give one of them. Nothing was written.`);
  const unlisted = kindsIn('unlisted', options.list('unlisted'));
  return { keep, overwrite, unlisted, isPartial: options.flag('partial'), digest: digestOf(options) };
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
