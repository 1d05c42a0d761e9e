// A bound for the texts of all answers that a process receives at a time. An aggregated API server decides how large its answers are:
// several of them at a time would take the whole heap before one is parsed.
const mega = 1024 * 1024;

/** In bytes. `each`: an answer may always have so many. */
const most = { each: 2 * mega, together: 32 * mega } as const;

interface AnswerRoom {
  /** Counts so many more bytes of the answer; false if other answers leave no room for them. */
  take(bytes: number): boolean;
  /** Call it when the text is parsed. */
  giveBack(): void;
}

/** For all answers of a process. The returned function makes the room of one answer. */
export function createAnswerRooms(): () => AnswerRoom {
  let all = 0;
  return () => {
    let own = 0;
    const add = (bytes: number): void => {
      own += bytes;
      all += bytes;
    };
    return {
      take(bytes) {
        add(bytes);
        return own <= most.each || own === all || all <= most.together;
      },
      giveBack: () => add(-own),
    };
  };
}
