#!/usr/bin/env node
// The entry point of the command line. Only this file reads the arguments of the process.
import { basename } from 'node:path';
import { runProgram } from './command/program.ts';

const [, script = '', ...words] = process.argv;
const called = basename(script).replace(/\.(js|mjs|ts|cmd)$/, '');
const interruption = new AbortController();
// A second Ctrl-C ends the process at once, even if a request is open.
process.once('SIGINT', () => interruption.abort());
/** The exit code if the reader of a pipe has closed it. It is that of SIGPIPE, so scripts do not take it for success. */
const unread = 141;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(unread);
  throw error;
});

// Not awaited: the bundle of the self-contained program is CommonJS, which knows no `await` here.
const running = runProgram(called === 'kubectl_complete-janus' ? ['__complete', ...words] : words, {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  folder: process.cwd(),
  program: called.startsWith('kubectl') ? 'kubectl janus' : 'janus',
  interrupted: interruption.signal,
  signal: (name) => process.kill(process.pid, name),
});
// Without `exit`, idle connections would keep the process running for a minute.
void running.then((code) =>
  process.stdout.write('', (error) => process.stderr.write('', () => process.exit(error ? unread : code))),
);
