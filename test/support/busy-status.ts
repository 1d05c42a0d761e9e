// A writer of status that is busier than any real one: it writes the status of an object right before each dry run, and each write, of
// that object. So each of these meets a Conflict, as fast or slow as the machine is.
import type { Cluster, Reader, Write } from '../../hooks/objects/cluster.ts';
import type { Client } from './client.ts';
import { pathIn } from './stage.ts';

interface BusyStatus {
  readonly wrap: (cluster: Cluster) => Cluster;
  readonly wrapReader: <Read extends Reader>(reader: Read) => Read;
  /** Begins to write: at most so often before dry runs of a kind, and before writes of it, until the next `begin`. 0 ends it. */
  begin(client: Client, most: number): void;
  /** How often the status was written since, before `tried KIND` and `sent KIND`. */
  readonly written: ReadonlyMap<string, number>;
}

export function busyStatus(): BusyStatus {
  const written = new Map<string, number>();
  let by: { readonly client: Client; readonly most: number } | undefined;
  const writeStatus = async (how: 'tried' | 'sent', { verb, location: { resource, namespace, name } }: Write): Promise<void> => {
    const { group, version, plural } = resource;
    const key = `${how} ${plural}`;
    const count = written.get(key) ?? 0;
    const isOfTarget = ['update', 'apply'].includes(verb) && resource.statusSubresource;
    if (by === undefined || !isOfTarget || count >= by.most) return;
    const condition = { type: 'Busy', status: 'True', reason: `Write${how}${count}`, lastTransitionTime: time, message: '' };
    const path = `${pathIn(namespace ?? '', `${group}/${version}/${plural}/${name}`)}/status`;
    const answer = await by.client.patch(path, { status: { conditions: [condition] } }, 'merge', { fieldManager: 'busy' });
    if (answer.code === 200) written.set(key, count + 1);
  };
  const wrapReader = <Read extends Reader>(reader: Read): Read => ({
    ...reader,
    dryRun: async (write: Write) => {
      await writeStatus('tried', write);
      return reader.dryRun(write);
    },
  });
  return {
    written,
    wrapReader,
    wrap: (cluster) => ({
      ...wrapReader(cluster),
      send: async (write, isLate) => {
        await writeStatus('sent', write);
        return cluster.send(write, isLate);
      },
    }),
    begin: (client, most) => {
      written.clear();
      by = most === 0 ? undefined : { client, most };
    },
  };
}

const time = '2026-01-01T00:00:00Z';
