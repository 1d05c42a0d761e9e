// The rule of both admission policies for a copy of what was stored before, such as an object from a backup. The API server drops the
// status of a new object, so a copy of a Transaction that had ended would run again. Metacontroller adds its finalizer to each stored
// object by an update, before its first call, so a new object never has that finalizer.

const prefix = 'metacontroller.io/';
const finalizers = 'object.metadata.finalizers';

/** CEL that is true for a new object that no copy of a stored object gave. */
export const isNoCopy = `!has(${finalizers}) || !${finalizers}.exists(name, name.startsWith('${prefix}'))`;

/** CEL with the value that is refused. */
export const copiedFinalizer = `${finalizers}.filter(name, name.startsWith('${prefix}'))[0]`;

/** `what`: the kind, in words of users. Says how they run it again. It has no quote. */
export function copyMessage(what: string): string {
  return `a copy of a stored ${what}, such as one from a backup, would run again from the beginning, because its status is lost. To run it again on purpose, remove metadata.finalizers from the copy and create it; else leave it out (docs/backups.md)`;
}
