// Records every write of the engine that took effect, as `create leases NAME`. For the `wrap` of a stage.
import type { Cluster, Write } from '../../hooks/objects/cluster.ts';

export function noting(writes: string[]): (cluster: Cluster) => Cluster {
  const describe = ({ verb, location }: Write): string => `${verb} ${location.resource.plural} ${location.name}`;
  return (cluster) => ({
    ...cluster,
    send: async (write) => {
      const answer = await cluster.send(write);
      if (answer.kind === 'ok') writes.push(describe(write));
      return answer;
    },
  });
}
