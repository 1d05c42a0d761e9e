// Objects as kubectl takes them: `deploy/web`, `deployments/web`, `Deployment.apps/web`. Discovery lists the names of each kind.
import { type Json, listAt, textAt } from '../../hooks/objects/json.ts';
import { groupOf } from '../../hooks/objects/reference.ts';
import { wrongUse } from '../problem.ts';
import { caller, type Session } from './session.ts';

interface Kind {
  readonly group: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface ObjectName {
  readonly name: string;
  /** The kinds that the first word names: kinds of several groups may have one name. */
  readonly kinds: readonly Kind[];
  /** The first word in lower case, for a cluster that does not serve it, or no longer. */
  readonly word: string;
}

/** Throws a Problem if the text is not KIND/NAME. */
export async function objectNamed(session: Session, text: string, command: string): Promise<ObjectName> {
  const [word = '', name = '', ...rest] = text.split('/');
  if (word === '' || name === '' || rest.length > 0)
    throw wrongUse(`${command} takes KIND/NAME, such as deploy/web; found "${text}".`);
  const wanted = word.toLowerCase();
  return { name, word: wanted, kinds: (await knownKinds(session)).filter((one) => one.names.includes(wanted)) };
}

/**
 * The names as the engine knows them: `deploy/web` is `Deployment.apps/web`. As for kubectl, the first kind of that name counts. A name whose
 * kind begins with a capital letter, or is not served, stays as it is.
 */
export async function kindsNamed(session: () => Promise<Session>, texts: readonly string[]): Promise<readonly string[]> {
  if (texts.every(isKindName)) return texts;
  const all = await knownKinds(await session());
  return texts.map((text) => {
    const [word = '', ...rest] = text.split('/');
    const found = isKindName(text) ? undefined : all.find(({ names }) => names.includes(word.toLowerCase()));
    if (found === undefined) return text;
    return [found.group === '' ? found.kind : `${found.kind}.${found.group}`, ...rest].join('/');
  });
}

const isKindName = (text: string): boolean => /^[A-Z]/.test(text);

/** Whether the words name the object. */
export function isNamed(
  wanted: ObjectName,
  { apiVersion, kind, name }: Readonly<Record<'apiVersion' | 'kind' | 'name', string>>,
): boolean {
  if (name !== wanted.name) return false;
  const group = groupOf(apiVersion);
  if (wanted.kinds.some((one) => one.kind === kind && one.group === group)) return true;
  return [kind, `${kind}.${group}`].some((one) => one.toLowerCase() === wanted.word);
}

interface KnownKind extends Kind {
  readonly names: readonly string[];
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Empty if discovery does not answer: then a kind has its own name only. */
async function knownKinds({ cluster }: Session): Promise<readonly KnownKind[]> {
  const answers = await Promise.all(
    ['/api', '/apis'].map((path) => cluster.transport.request({ method: 'GET', path, accept: aggregated }, caller)),
  );
  return answers
    .flatMap((answer) => (answer.kind === 'failed' ? [] : listAt(answer.body, 'items')))
    .flatMap((group) => {
      const name = textAt(group, 'metadata', 'name') ?? '';
      return listAt(group, 'versions').flatMap((version) =>
        listAt(version, 'resources').map((resource) => kindIn(resource, name, textAt(version, 'version') ?? '')),
      );
    });
}

function kindIn(resource: Json, group: string, version: string): KnownKind {
  const kind = textAt(resource, 'responseKind', 'kind') ?? '';
  const words = [
    kind,
    textAt(resource, 'resource') ?? '',
    textAt(resource, 'singularResource') ?? '',
    ...listAt(resource, 'shortNames').filter((one) => typeof one === 'string'),
  ].filter((word) => word !== '');
  const names = words.flatMap((word) => [word, `${word}.${group}`, `${word}.${version}.${group}`]);
  return { group, kind, namespaced: textAt(resource, 'scope') !== 'Cluster', names: names.map((one) => one.toLowerCase()) };
}
