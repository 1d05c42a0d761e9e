// Many connections cannot keep others out: above a number the oldest that has made no admitted call is closed for the new one.
// (`maxConnections` would close the new one, and with it the probes and Metacontroller itself.)
import type { Server, Socket } from 'node:net';

export const mostConnections = 1_000;

/** Gives what is to be told of connections whose calls are admitted: they are never closed for others. */
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

// Under TLS a call comes by another object than the connection, but from the same peer.
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
