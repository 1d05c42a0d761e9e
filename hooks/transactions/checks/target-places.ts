// The fields of a change that name its object, for messages: those that the user wrote.
import type { Change, Target } from '../model/change.ts';

/** The place in the spec for each member of the target. */
type Places = Readonly<Record<keyof Target, string>>;

const inTarget: Places = {
  apiVersion: 'target.apiVersion',
  kind: 'target.kind',
  name: 'target.name',
  namespace: 'target.namespace',
};

const inContent: Places = {
  apiVersion: 'content.apiVersion',
  kind: 'content.kind',
  name: 'content.metadata.name',
  namespace: 'content.metadata.namespace',
};

/** The places in the spec that name the object. */
export function placesOf({ isInferred }: Pick<Change, 'isInferred'>): Places {
  return isInferred === true ? inContent : inTarget;
}
