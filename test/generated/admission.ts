// Generated releases among whose objects is what admits others. A piece is a guard, which is strict or lax before and after the release,
// and a subject, whose bad state a strict guard refuses. Each piece has a Namespace of its own in which the subject lies. Pure.
import fc from 'fast-check';

const guards = ['quota', 'limits', 'pods', 'priority', 'policy', 'binding', 'webhook', 'schema'] as const;
export type Guard = (typeof guards)[number];

/** Of a subject: not there, such that any guard admits it, such that only a lax one does. */
export type Level = 'absent' | 'ok' | 'bad';

/** A value before the release, and after it. */
interface Turn<Value> {
  readonly before: Value;
  readonly after: Value;
}

interface Piece {
  readonly guard: Guard;
  /** Whether the guard is strict. */
  readonly strict: Turn<boolean>;
  readonly subject: Turn<Level>;
}

/** One change of the release. */
export interface Change {
  readonly piece: number;
  readonly of: 'guard' | 'subject';
}

/** Changes in the order of one release. Two Transactions share them if `first` is smaller than their number. */
export interface Release {
  readonly pieces: readonly Piece[];
  readonly changes: readonly Change[];
  /** How many of the changes the first Transaction has. */
  readonly first: number;
  /** Whether the first Transaction is undone before the second. */
  readonly isFirstUndoneFirst: boolean;
}

type Changes = Pick<Release, 'pieces' | 'changes'>;

/** Subjects whose contents cannot be changed in place, or that are refused whatever they contain. */
const wholeOnly: readonly Guard[] = ['quota', 'limits', 'pods', 'priority'];

function isChanged({ before, after }: Turn<boolean | Level>): boolean {
  return before !== after;
}

/** A webhook judges what was labelled before the write, too. */
function isJudged({ guard }: Piece, from: Level, to: Level): boolean {
  return to === 'bad' || (guard === 'webhook' && from === 'bad' && to === 'ok');
}

/** Whether each change is admitted in its turn. */
export function isAdmitted({ pieces, changes }: Changes): boolean {
  return pieces.every((piece, index) => {
    const own = changes.filter((change) => change.piece === index);
    const isFirst = own.findIndex(({ of }) => of === 'subject') === 0;
    if (!isChanged(piece.subject)) return true;
    const isStrict = isFirst ? piece.strict.before : piece.strict.after;
    return !isStrict || !isJudged(piece, piece.subject.before, piece.subject.after);
  });
}

/**
 * Whether the undo must succeed: it is admitted in the opposite order, or once the guard is lax again. Of another one it only holds that
 * it is made as a whole or not at all.
 */
export function isUndoable({ pieces, changes }: Changes): boolean {
  return pieces.every((piece, index) => {
    const { strict, subject } = piece;
    if (!isChanged(subject) || !isJudged(piece, subject.after, subject.before)) return true;
    const own = changes.filter((change) => change.piece === index);
    const isGuardLast = own.at(-1)?.of === 'guard';
    return !strict.before || (!strict.after && !isGuardLast);
  });
}

const levelsOf = (guard: Guard): fc.Arbitrary<Level> =>
  wholeOnly.includes(guard) ? fc.constantFrom('absent', 'bad') : fc.constantFrom('absent', 'ok', 'bad');
const turn = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Turn<Value>> => fc.record({ before: value, after: value });

const piece: fc.Arbitrary<Piece> = fc
  .constantFrom(...guards)
  .chain((guard) => fc.record({ guard: fc.constant(guard), strict: turn(fc.boolean()), subject: turn(levelsOf(guard)) }))
  .filter(({ strict, subject }) => isChanged(subject) || isChanged(strict))
  // A volume is lost with its claim: to delete a claim is one way.
  .filter(({ guard, subject }) => guard !== 'limits' || subject.after !== 'absent');

/** Releases with at least one guard among their objects, in one or two Transactions. A webhook that refuses for ever is waited for: such releases are left out. */
export const releases: fc.Arbitrary<Release> = fc
  .uniqueArray(piece, { minLength: 1, maxLength: 3, selector: ({ guard }) => guard })
  .filter((pieces) => pieces.some(({ strict }) => isChanged(strict)))
  .chain((pieces) => {
    const changes = pieces.flatMap(({ strict, subject }, index): readonly Change[] => [
      ...(isChanged(strict) ? [{ piece: index, of: 'guard' } as const] : []),
      ...(isChanged(subject) ? [{ piece: index, of: 'subject' } as const] : []),
    ]);
    const length = changes.length;
    const hasWebhook = pieces.some(({ guard }) => guard === 'webhook');
    return fc.record({
      pieces: fc.constant(pieces),
      changes: fc.shuffledSubarray([...changes], { minLength: length, maxLength: length }),
      first: fc.integer({ min: hasWebhook ? length : 1, max: length }),
      isFirstUndoneFirst: fc.boolean(),
    });
  })
  .filter((release) => release.pieces.every(({ guard }) => guard !== 'webhook') || (isAdmitted(release) && isUndoable(release)));
