// One line of releases, as its histories (histories.ts) are played: the objects, and the changes of each release.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import type { Stage } from '../support/stage.ts';
import { kinds } from './busy.ts';
import { type Data, type Held, objects } from './histories.ts';

export type State = Data | undefined;

/** `id`: of the line; the names of its objects begin with it. */
export interface Line {
  readonly stage: Stage;
  readonly id: string;
}

export const nameOf = (id: string, object: number): string => `${id}-${objects[object]}`;

export function pathOf({ stage, id }: Line, object: number): string {
  return stage.path(`${kinds[object]?.place}/${nameOf(id, object)}`);
}

export function statesOf(line: Line): Promise<readonly State[]> {
  return Promise.all(
    objects.map(async (_, object) => {
      const answer = await line.stage.client.get(pathOf(line, object));
      return answer.code === 404 ? undefined : kinds[object]?.dataOf(must(answer));
    }),
  );
}

/** As the command line makes releases: what one no longer holds is deleted. */
export function changesOf({ id }: Line, held: Held, before: Held | undefined): readonly (readonly [number, JsonObject])[] {
  return objects.flatMap((_, object): readonly (readonly [number, JsonObject])[] => {
    const [data, name, kind] = [held[object], nameOf(id, object), kinds[object]];
    const target = { ...kind?.type, name };
    if (data !== undefined) {
      const { metadata, ...content } = kind?.content(data, name) ?? {};
      return [
        [object, { type: 'Apply', content: { ...kind?.type, metadata: { ...(metadata as JsonObject), name }, ...content } }],
      ];
    }
    return before?.[object] === undefined ? [] : [[object, { type: 'Delete', target }]];
  });
}
