// What a spec or a change says of its undo.

import { isList, isObject, type Json } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { longestManager } from '../model/transaction.ts';
import { type Fault, fault } from './fault.ts';

const choices = ['Keep', 'Delete'] as const;

/** As in schemas/spec-values.ts. */
const mostFilledBy = 16;

export function undoFaults(undo: Json | undefined): readonly Fault[] {
  return undo === undefined ? [] : undoMessages(undo).map((message) => fault('Invalid', `spec.${message}`));
}

/** The faults of `undo`, of a spec or a change, in words. */
export function undoMessages(undo: Json): readonly string[] {
  if (!isObject(undo)) return ['undo: must be an object: write foreignContent in it'];
  const { foreignContent: choice, foreignContentManagers: managers } = undo;
  const isKnown = choice === undefined || choice === null || choices.some((one) => one === choice);
  return [
    ...(isKnown ? [] : [`undo.foreignContent: is none of ${choices.join(', ')}`]),
    ...(managers === undefined || managers === null ? [] : managerMessages(managers, choice)),
  ];
}

function managerMessages(managers: Json, choice: Json | undefined): readonly string[] {
  const name = 'undo.foreignContentManagers';
  if (choice !== 'Delete') return [`${name}: has a meaning only with foreignContent: Delete beside it`];
  const isName = (one: Json): boolean => typeof one === 'string' && one !== '' && one.length <= longestManager;
  if (!isList(managers) || managers.length === 0 || managers.length > mostFilledBy)
    return [`${name}: write 1 to ${mostFilledBy} names of field managers`];
  const wrong = managers.find((one) => !isName(one));
  return wrong === undefined
    ? []
    : [
        `${name}: "${foreign(JSON.stringify(wrong), 60)}" is not the name of a field manager, at most ${longestManager} characters`,
      ];
}
