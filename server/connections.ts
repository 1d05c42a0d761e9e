// Limits connections, so that many of them cannot lock out other clients. Above the limit the server closes the oldest unauthenticated
// connection for a new one. (`maxConnections` would close the new one, also if it is from a probe or from Metacontroller.)
import type { Server, Socket } from 'node:net';

const mostConnections = 1_000;

/** Returns a callback that marks a connection as authenticated. The server never closes such a connection for a new one. */
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

// Under TLS, the socket of a call and the socket of the connection are different objects with one peer.
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
