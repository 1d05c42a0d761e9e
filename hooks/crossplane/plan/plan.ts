// From a step to its writes. Pure and exhaustive: a process that performs them makes no further decision.
import type { Write } from '../../objects/cluster.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import { textAt } from '../../objects/json.ts';
import type { Mutation, Writes } from '../../objects/mutation.ts';
import type { Step } from '../decide/step.ts';
import { timeOf } from '../model/status.ts';
import type { Context, Garbage } from '../observe/observation.ts';
import { recordWrite } from '../writes/applied.ts';
import { handOverWrite, pauseAgainWrite, takeBackWrite } from '../writes/beside.ts';
import { createLock, fenceLock, forwardLock, releaseLock, takeLock, writePackages } from '../writes/lock.ts';
import { ownersWrite } from '../writes/owners.ts';
import { accountIn, preconditionOf } from '../writes/resources.ts';
import { blockingWrite, contentsWrite, requestWrite, stageWrite } from '../writes/stages.ts';

export function plan(step: Step, context: Context): Writes {
  const mutations = mutationsOf(step, context);
  return mutations.length === 0 ? { kind: 'nothing' } : { kind: 'sequence', mutations };
}

function mutationsOf(step: Step, context: Context): readonly Mutation[] {
  const { ptx, namespace } = context;
  switch (step.kind) {
    case 'setStatus':
      return [];
    case 'createLock':
      return [{ write: createLock(namespace), settledBy: ['exists'] }];
    case 'acquire':
      return [{ write: takeLock(step.lock, ptx, namespace) }];
    case 'release':
      return [...recordings(step, namespace), { write: releaseLock(step.lock, namespace) }];
    case 'fence':
    case 'goForward':
      return [{ write: markLock(step, context) }];
    case 'writePackages':
      return [{ write: writePackages(step.lock, step.packages, namespace) }, ...retirements(step, namespace)];
    case 'adopt':
      return step.orphans.map(({ resource, live, owners }) => ({
        write: ownersWrite(resource, live, owners, namespace),
        settledBy: step.isOptional ? ['absent', 'refused'] : ['absent'],
      }));
    case 'delete':
      return packageDeletions(step, namespace);
    case 'handOver':
      return step.paused.map((one) => ({
        write: handOverWrite(one, namespace, step.isEarly),
        settledBy: ['absent', 'refused'],
      }));
    case 'takeBack':
      return takingBack(step, context);
    case 'store':
      return step.contents.map(({ stage, index, contents }) => ({
        write: contentsWrite(ptx, contents, { name: stage.name, index, namespace }),
        settledBy: ['exists'],
      }));
    case 'create':
      return creation(step, context);
    case 'compensate':
      return compensation(step, context);
    case 'cleanUp':
      return [
        ...deletions(step.garbage, namespace),
        // It does not matter to this package transaction whether the API server can delete previous ones.
        ...deletions(step.history, namespace).map((one): Mutation => ({ ...one, settledBy: ['absent', 'refused'] })),
      ];
  }
}

function markLock({ kind, lock }: Extract<Step, { readonly kind: 'fence' | 'goForward' }>, { namespace, now }: Context): Write {
  return kind === 'fence' ? fenceLock(lock, timeOf(now), namespace) : forwardLock(lock, namespace);
}

/** The revisions first: Crossplane would write the definitions again. */
function takingBack(
  { paused, written = [] }: Extract<Step, { readonly kind: 'takeBack' }>,
  { ptx, namespace }: Context,
): readonly Mutation[] {
  return [
    ...paused.map((one): Mutation => ({ write: takeBackWrite(one, namespace), settledBy: ['absent'] })),
    ...written.map((one): Mutation => ({ write: pauseAgainWrite(one, ptx, namespace), settledBy: ['absent'] })),
  ];
}

/** For people only: a refusal keeps no Lock. */
function recordings({ unrecorded = [] }: Extract<Step, { kind: 'release' }>, namespace: string): readonly Mutation[] {
  return unrecorded.map((one) => ({ write: recordWrite(one, namespace), settledBy: ['absent', 'refused'] }));
}

/** The Lock is written: nothing depends on these writes, and the next install of the package tries them again. */
function retirements({ retired }: Extract<Step, { kind: 'writePackages' }>, namespace: string): readonly Mutation[] {
  if (retired === undefined) return [];
  const { revisions: objects, released: kept } = retired;
  return packageDeletions({ objects, kept }, namespace).map((one) => ({ ...one, settledBy: ['absent', 'refused', 'stale'] }));
}

function packageDeletions({ objects, kept }: Pick<Deleting, 'objects' | 'kept'>, namespace: string): readonly Mutation[] {
  const withoutOwners = kept.map(
    ({ resource, live, owners }): Mutation => ({
      write: ownersWrite(resource, live, owners, namespace),
      settledBy: ['absent'],
    }),
  );
  return [...withoutOwners, ...deletions(objects, namespace)];
}

/** Another writer's contents under that name do no harm: the stage names their digests. */
function creation({ index, next }: Extract<Step, { kind: 'create' }>, { ptx, namespace }: Context): readonly Mutation[] {
  const { changes, source } = next;
  const stage: Mutation = { write: stageWrite(ptx, index, changes, namespace) };
  if (source === undefined) return [stage];
  return [{ write: contentsWrite(ptx, source, { name: source.name, index, namespace }), settledBy: ['exists'] }, stage];
}

/** A policy that refuses to create the stages that take the names also refuses a late request. */
function compensation(
  { blocked, request }: Extract<Step, { kind: 'compensate' }>,
  { ptx, namespace }: Context,
): readonly Mutation[] {
  return [
    ...blocked.map((index): Mutation => ({ write: blockingWrite(ptx, index, namespace), settledBy: ['refused'] })),
    ...(request === undefined ? [] : [{ write: requestWrite(request.stage, request.value, namespace) }]),
  ];
}

type Deleting = Extract<Step, { kind: 'delete' }>;

const mostDeletes = 100;

/** The first objects that are not being deleted already. */
function deletions(garbage: readonly Garbage[], namespace: string): readonly Mutation[] {
  const going = garbage.filter(({ object }) => !isTerminating(object)).slice(0, mostDeletes);
  return going.map(({ resource, namespace: place, object }) => {
    const name = textAt(object, 'metadata', 'name') ?? '';
    const location = { resource, name, ...(place === undefined ? {} : { namespace: place }) };
    const precondition = preconditionOf(object);
    return { write: { verb: 'delete', identity: accountIn(namespace), location, precondition }, settledBy: ['absent'] };
  });
}
