#!/usr/bin/env node
// The command line: words in, exit code out. The only file that sees the arguments of the process.
import { basename } from 'node:path';
import { runProgram } from './command/program.ts';

const [, script = '', ...words] = process.argv;
const called = basename(script).replace(/\.(js|mjs|ts|cmd)$/, '');
const interruption = new AbortController();
// The second one ends the process at once: a request may have no answer yet.
process.once('SIGINT', () => interruption.abort());
/** The reader of a pipe has gone, and the command may be in the middle: as after SIGPIPE, which no script takes for success. */
const unread = 141;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(unread);
  throw error;
});

const code = await runProgram(called === 'kubectl_complete-janus' ? ['__complete', ...words] : words, {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  folder: process.cwd(),
  program: called.startsWith('kubectl') ? 'kubectl janus' : 'janus',
  interrupted: interruption.signal,
});
// Idle connections would keep the process for a minute.
process.stdout.write('', (error) => process.stderr.write('', () => process.exit(error ? unread : code)));
