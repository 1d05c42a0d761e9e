// Reads the layer in the file that it is given, and prints why it is no package, or `read`, and its largest memory in MiB. For a test that
// bounds memory and time.
import { readDocuments } from '../../server/registry/documents.ts';
import { packageStream } from '../../server/registry/layers.ts';

const [file = ''] = process.argv.slice(2);
const found = await readDocuments(packageStream([file]), () => undefined, AbortSignal.timeout(60_000)).then(
  () => 'read',
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
);
const memory = Math.round(process.resourceUsage().maxRSS / 1024);
process.stdout.write(JSON.stringify({ found, memory }));
