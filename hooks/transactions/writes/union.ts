// The writes of a Patch whose content forbids a member of a union that no manager owns (content/unions.ts). The first write makes
// the field manager own the member and changes no value. The second write is the Patch, which leaves the member out and so removes
// it.
import type { Precondition, Write } from '../../objects/cluster.ts';
import { ownedPart } from '../../objects/content/owned-part.ts';
import {
  forbiddenMember,
  memberOwners,
  type Union,
  withFormerDiscriminator,
  withMember,
  withoutMember,
} from '../../objects/content/unions.ts';
import { isObject, type JsonObject } from '../../objects/json.ts';
import type { Mutation } from '../../objects/mutation.ts';
import { kindOf } from '../../objects/reference.ts';
import { isApplied } from '../model/change.ts';
import { managersOfChange } from '../model/transaction.ts';
import { type ChangeContext, changeWrite } from './change.ts';
import { preconditionOf } from './resources.ts';

/** The writes that make the change. `precondition` is that of `live`. */
export function changeMutation(context: ChangeContext, precondition: Precondition | undefined): Mutation {
  const { change, live, transaction } = context;
  const union = unownedIn(context);
  if (union === undefined || live === undefined) return { write: changeWrite(context, precondition) };
  const { forward } = managersOfChange(transaction, change);
  const owning = { ...change, content: withMember(ownedPart(live, forward), live, union) };
  return {
    write: changeWrite({ ...context, change: owning }, precondition),
    next: (owned) => ({ write: changeWrite({ ...context, live: owned }, preconditionOf(owned)) }),
  };
}

interface Trial {
  readonly write: Write;
  /** The object after the change, by the answer to the dry run. */
  readonly expected: (answer: JsonObject) => JsonObject;
}

/** The dry run of the change. The API server would refuse the Patch itself as long as no manager owns the member. */
export function trialOf(context: ChangeContext, precondition: Precondition | undefined): Trial {
  const { change, live } = context;
  const union = unownedIn(context);
  if (union === undefined || !isObject(change.content))
    return { write: changeWrite(context, precondition), expected: (answer) => answer };
  const content = withFormerDiscriminator(change.content, live, union);
  return {
    write: changeWrite({ ...context, change: { ...change, content } }, precondition),
    expected: (answer) => withoutMember(answer, union),
  };
}

function unownedIn({ change, live, resource }: ChangeContext): Union | undefined {
  const union = isApplied(change.way) ? forbiddenMember(change.content, live, kindOf(resource)) : undefined;
  return union !== undefined && memberOwners(live, union).length === 0 ? union : undefined;
}
