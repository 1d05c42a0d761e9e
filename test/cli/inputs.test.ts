// What -f names: folders with entries that are not files, and paths that are not files, by the packed program. No control plane is needed.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { readPath } from '../../cli/input/streams.ts';
import { openCli } from '../support/cli.ts';
import { waitFor } from '../support/client.ts';
import { deletion } from './here.ts';

const cli = await openCli(t);
const text = JSON.stringify(deletion);
const fifo = (path: string): string => {
  t.equal(spawnSync('mkfifo', [path]).status, 0, path);
  return path;
};

/** A folder with these; returns its path. */
function folderOf(name: string, links: Readonly<Record<string, string>>): string {
  const folder = join(cli.home, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'tx.json'), text);
  for (const [link, to] of Object.entries(links)) symlinkSync(to, join(folder, link));
  return folder;
}

t.test('a folder with entries that are not files is refused: the command names each once, and reads nothing', async (t) => {
  const folder = folderOf('odd', { 'circle.yaml': 'circle.yaml', 'gone.yaml': 'nowhere', 'zero.yaml': '/dev/zero', up: '..' });
  fifo(join(folder, 'fifo.yaml'));
  const server = createServer().listen(join(folder, 'socket'));
  t.teardown(() => server.close());
  await waitFor(() => server.listening, 'the socket');
  const { code, out, err } = await cli.run(['apply', '-f', folder, '-R', '--service-account', 'a', '--name', 'n']);
  t.match({ code, out }, { code: 1, out: '' }, err);
  const odd = [
    'circle.yaml is a link in a circle',
    'fifo.yaml is a FIFO',
    'gone.yaml is a link that leads nowhere (ENOENT)',
    'socket is a socket',
    'up is a link to a folder',
    'zero.yaml is a link to a device',
  ];
  const named = odd.map((one) => join(folder, one)).join(', ');
  t.equal(err, `janus: ${named}: janus reads only regular files. Name the files, or remove the others.\n`);
  t.match(await cli.run(['lint', '-f', folder]), { code: 3, out: '' }, 'lint');
});

t.test('links to files are read, and without -R a link to a folder is left out, as folders are', async (t) => {
  writeFileSync(join(cli.home, 'half'), '{');
  const folder = folderOf('linked', { 'half.json': '../half', up: '..' });
  t.match(await cli.run(['lint', '-f', folder]), { code: 3, err: /linked\/half\.json / });
});

t.test('what the user names is read as a stream, to the bound of URLs', async (t) => {
  const zero = await cli.run(['lint', '-f', '/dev/zero']);
  t.match(zero, { code: 3, out: '', err: /^janus: \/dev\/zero has more than 64 MiB: apply it in parts\.\n$/ });
  const [link = ''] = [join(cli.home, 'endless.yaml')];
  symlinkSync('/dev/zero', link);
  t.match(await cli.run(['lint', '-f', link]), { code: 3, err: /endless\.yaml has more than 64 MiB/ });
  const path = fifo(join(cli.home, 'written'));
  const running = cli.start(['lint', '-f', path]);
  const writer = spawn('sh', ['-c', 'cat > "$0"', path]);
  writer.stdin.end(text);
  t.match(await running.finished, { code: 0, out: '', err: '' }, 'a FIFO, as a shell makes for <(…)');
});

t.test('Ctrl-C and the bound of time end the wait for a FIFO', async (t) => {
  const path = fifo(join(cli.home, 'silent'));
  const running = cli.start(['lint', '-f', path]);
  const isOpen = () =>
    spawnSync('sh', ['-c', `ls -l /proc/${running.process.pid}/fd`], { encoding: 'utf8' }).stdout.includes(path);
  await waitFor(isOpen, 'the FIFO to be open');
  running.process.kill('SIGINT');
  t.match(await running.finished, { code: 130, out: '', err: /^janus: Interrupted/ });
  const { signal } = new AbortController();
  await t.rejects(readPath(path, { bytes: 1_000, signal, patience: 200 }), {
    message: `${path} cannot be read (no end in 0.2 s): correct the path after -f.`,
  });
});
