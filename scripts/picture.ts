// `npm run picture` draws docs/images/demo.txt, the recording of a terminal, as docs/images/demo.svg. To renew both from a real run:
//
//   script -qec 'stty cols 110 rows 40; npm run demo' run.txt
//   npm run picture -- run.txt --after 'as a kubelet would' --before OBJECT
//
// FILE, or - for standard input, is a recording in place of demo.txt. Its lines between the first line that contains the text of --after and the
// next line that contains the text of --before become the new demo.txt.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { between, pictureOf } from './picture/picture.ts';

const images = join(import.meta.dirname, '..', 'docs', 'images');
const recording = join(images, 'demo.txt');
const options = { after: { type: 'string' }, before: { type: 'string' } } as const;
const { values, positionals } = parseArgs({ allowPositionals: true, options });

const [file = recording] = positionals;
const text = readFileSync(file === '-' ? 0 : file, 'utf8');
const part = between(text, values.after, values.before);
writeFileSync(recording, part);
writeFileSync(join(images, 'demo.svg'), pictureOf(part));
