// Packs files as a `.tar.gz`, without times and owners, so that equal files make equal bytes.
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

interface File {
  readonly name: string;
  readonly bytes: Buffer;
  readonly mode: number;
}

export async function archiveOf(files: readonly File[], level: number): Promise<Buffer> {
  const archive = pack();
  for (const { name, bytes, mode } of files) archive.entry({ name, mtime: new Date(0), mode }, bytes);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return gzipSync(Buffer.concat(chunks), { level });
}
