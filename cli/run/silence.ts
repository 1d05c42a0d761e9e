// A command that follows a Transaction says so if the engine does not answer, and what is wrong, as far as the user may see it.
import { longestSilence, whatIsWrong } from '../cluster/health.ts';
import type { Session } from '../cluster/session.ts';

interface Listening {
  readonly session: Session;
  /** `janus`, or `kubectl janus`. */
  readonly program: string;
  /** Whether the engine has not answered yet. */
  isSilent(): boolean;
  say(sentence: string): void;
}

/** Returns a function that ends it. */
export function noteSilence({ session, program, isSilent, say }: Listening): () => void {
  let [passed, isOver] = [0, false];
  const timer = setInterval(async () => {
    passed += longestSilence / 1000;
    const why = isSilent() ? await whatIsWrong(session).catch(() => undefined) : undefined;
    if (!isOver && isSilent())
      say(`The engine has made no call for ${passed} s${why === undefined ? '' : `: ${why}`}.   ${program} doctor`);
  }, longestSilence);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
