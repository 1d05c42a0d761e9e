// Many connections cannot lock others out: above a limit the oldest unauthenticated one is closed in favour of the new one.
// (`maxConnections` would close the new one, and with it the probes and Metacontroller itself.)
import type { Server, Socket } from 'node:net';

const mostConnections = 1_000;

/** Returns a callback to mark a connection as authenticated: such a connection is never closed for others. */
export function limitConnections(server: Server, most = mostConnections): (socket: Socket) => void {
  const strangers = new Map<string, Socket>();
  const known = new Set<string>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    strangers.set(peer, socket);
    socket.once('close', () => {
      strangers.delete(peer);
      known.delete(peer);
    });
    const [oldest] = strangers.values();
    if (strangers.size + known.size > most) oldest?.destroy();
  });
  return (socket) => {
    const peer = peerOf(socket);
    if (strangers.delete(peer)) known.add(peer);
  };
}

// Under TLS the socket of a call is another object than that of the connection, but has the same peer.
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
