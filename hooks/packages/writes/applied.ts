// The ImageConfigs that were applied to the image of a revision. A stage writes them into an annotation of the revision, and an undo takes
// them back. Crossplane's package manager would write them into the status of the revision. Without it the hook does so.
import type { Resource, Write } from '../../objects/cluster.ts';
import { at, equalJson, isList, type Json, type JsonObject, objectAt, parseJson, textAt, withPath } from '../../objects/json.ts';
import { accountIn, fieldManager, imageConfigsAnnotation, preconditionOf } from './resources.ts';

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

/** A revision whose status does not have what its annotation says. */
export interface RevisionStatus {
  readonly resource: Resource;
  readonly live: JsonObject;
}

const inStatus = 'appliedImageConfigRefs';

export function isUnrecorded(revision: JsonObject): boolean {
  const { refs } = notedIn(revision);
  return refs !== undefined && !equalJson(refs, at(revision, 'status', inStatus) ?? []);
}

export function recordWrite({ resource, live }: RevisionStatus, namespace: string): Write {
  const status = { ...objectAt(live, 'status'), [inStatus]: notedIn(live).refs ?? [] };
  return {
    verb: 'update',
    subresource: 'status',
    identity: accountIn(namespace),
    location: { resource, name: textAt(live, 'metadata', 'name') ?? '' },
    object: withPath(live, ['status'], status),
    precondition: preconditionOf(live),
    fieldManager,
  };
}
