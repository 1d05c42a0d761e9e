import { randomInt } from 'node:crypto';
import { type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { contentSecretOf, secretNameOf } from '../cluster/content-secrets.ts';
import type { Call } from '../command/command.ts';
import { type Release, transactionIn, withContents } from '../input/release.ts';
import { say } from '../io.ts';
import { exits, wrongUse } from '../problem.ts';
import { formatted } from '../show/formats.ts';
import { refuseFindings } from './creating.ts';
import { manifestsOf } from './manifests.ts';
import { releaseOptionsOf } from './release-options.ts';

export async function run(call: Call): Promise<number> {
  const { io, options, operands } = call;
  const manifests = await manifestsOf(call);
  const session = await call.connect();
  const release = transactionIn(manifests, await releaseOptionsOf(call, session, manifests));
  if (release.places !== undefined && options.text('name') === undefined && operands[0] === undefined)
    throw wrongUse('render needs a name: give --name NAME, or the name of the app.');
  const objects = objectsOf(release);
  refuseFindings(objects.slice(-1), release);
  say(io, formatted(objects, options.text('output') ?? 'yaml'));
  return exits.done;
}

/** The Secret with the contents, if there is one, then the Transaction. */
function objectsOf({ transaction, contents }: Release): readonly JsonObject[] {
  const named = withName(transaction);
  if (Object.keys(contents).length === 0) return [named];
  const [name = '', namespace = ''] = [textAt(named, 'metadata', 'name'), textAt(named, 'metadata', 'namespace')];
  const secret = secretNameOf(name);
  return [contentSecretOf({ name: secret, namespace }, contents), withContents(named, secret)];
}

/** Those of the API server: without vowels, and without what looks alike. Source: apimachinery, pkg/util/rand. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

/** The contents need the name of the Transaction before the API server could generate it. */
function withName(transaction: JsonObject): JsonObject {
  const prefix = textAt(transaction, 'metadata', 'generateName');
  if (prefix === undefined || textAt(transaction, 'metadata', 'name') !== undefined) return transaction;
  const random = Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
  return withPath(withPath(transaction, ['metadata', 'generateName'], undefined), ['metadata', 'name'], `${prefix}${random}`);
}
