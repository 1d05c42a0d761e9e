// The status of a revision, which Crossplane's package manager would write. Without it the hook does so: the ImageConfigs that were applied
// to the image of the revision, and its CRDs. A stage writes these ImageConfigs into an annotation of the revision, and an undo takes them back.
import type { Resource, Write } from '../../objects/cluster.ts';
import { at, equalJson, isList, type Json, type JsonObject, listAt, objectAt, parseJson, textAt } from '../../objects/json.ts';
import { absenceIn, withoutAbsence } from './absence.ts';
import { imageConfigsAnnotation, statusWrite } from './resources.ts';

interface Noted {
  /** Undefined: no package transaction has said. */
  readonly refs: readonly Json[] | undefined;
  /** The name of the image after the ImageConfigs. */
  readonly resolved: string | undefined;
}

/** What a package transaction has noted in the annotation of the revision. */
export function notedIn(revision: JsonObject): Noted {
  const noted = parsed(textAt(revision, 'metadata', 'annotations', imageConfigsAnnotation));
  return { refs: refsIn(at(noted, 'refs')), resolved: textAt(noted, 'resolved') };
}

/** The schemas of Packages and revisions require both members: with another value, the API server would refuse the whole status. */
export function refsIn(refs: Json | undefined): readonly Json[] | undefined {
  if (!isList(refs)) return undefined;
  return refs.filter((ref) => textAt(ref, 'name') !== undefined && textAt(ref, 'reason') !== undefined);
}

/** Somebody may have edited the annotation. */
function parsed(text: string | undefined): Json | undefined {
  try {
    return text === undefined ? undefined : parseJson(text);
  } catch {
    return undefined;
  }
}

/** A revision whose status does not have what its annotation says, or not its CRDs. */
export interface RevisionStatus {
  readonly resource: Resource;
  readonly live: JsonObject;
  /** References to its CRDs, in order. */
  readonly definitions?: readonly JsonObject[];
}

const inStatus = 'appliedImageConfigRefs';
const objectRefs = 'objectRefs';

export function isUnrecorded({ live, definitions = [] }: Omit<RevisionStatus, 'resource'>): boolean {
  const { refs } = notedIn(live);
  const isNoted = refs === undefined || equalJson(refs, at(live, 'status', inStatus) ?? []);
  return !isNoted || !equalJson(definitions, listAt(live, 'status', objectRefs)) || absenceIn(live) !== undefined;
}

export function recordWrite({ resource, live, definitions = [] }: RevisionStatus, namespace: string): Write {
  const { refs } = notedIn(live);
  const status = {
    ...withoutAbsence(objectAt(live, 'status')),
    ...(refs === undefined ? {} : { [inStatus]: refs }),
    [objectRefs]: definitions,
  };
  return statusWrite({ resource, live }, status, namespace);
}

/** The names of the CRDs that the revision had when a package transaction wrote them. */
export function definitionsIn(revision: JsonObject): readonly string[] {
  return listAt(revision, 'status', objectRefs).flatMap((ref) =>
    textAt(ref, 'kind') === 'CustomResourceDefinition' ? [textAt(ref, 'name') ?? ''] : [],
  );
}
