// For `node --import`: a process that opens a connection fails.
import { Socket } from 'node:net';

Socket.prototype.connect = () => {
  throw new Error('a build of the site opened a connection');
};
