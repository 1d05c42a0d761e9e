// The objects and values that Kubernetes deletes or overwrites for good after a change: one row for each rule. A row counts
// forward: the engine refuses the change (observe/irreversible.ts, decide/committing.ts). It also counts backward: the undo leaves
// the object (attribution/undo.ts, `blockerOf`). read.ts makes the reads. Pure.

import { isStorageMoved, storageOf } from '../../objects/definitions.ts';
import { at, type JsonObject } from '../../objects/json.ts';
import { pruningVersions } from '../../objects/pruning.ts';
import { describe, type Reference } from '../../objects/reference.ts';
import { isFedByKubernetes } from './dependents.ts';
import type { Hazards } from './hazards.ts';
import { shownOf } from './messages.ts';
import {
  boundVolume,
  deletesClaims,
  getsStrayToken,
  isOtherClaim,
  isResumedOtherwise,
  isUnclaimed,
  losesPods,
  oneWayField,
  policyOf,
  shrinksBack,
} from './triggers.ts';

/** An object from one state to the next: by a change, or by its undo. */
interface StateChange {
  /** As `kindOf` has it. */
  readonly kind: string;
  readonly target: Reference;
  /** Undefined if the object does not exist then. */
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
  /** Only of an undo, and of a rollback that takes an object away. */
  readonly undo?: {
    /** The state that the change made. */
    readonly expected: JsonObject | undefined;
    /** Whether the Transaction was Committed: from then on others rely on its objects. */
    readonly wasCommitted: boolean;
    /** Whether a rollback takes the object away: another Transaction created it. */
    readonly isRollback?: boolean;
  };
}

type Words = (change: StateChange, names: string) => string;

interface Hazard {
  /** Of the object that changes; absent for all kinds. */
  readonly kind?: string;
  readonly isTriggered: (change: StateChange) => boolean;
  /** The read that finds the loss (read.ts); absent if the two states show the loss. */
  readonly read?: Read;
  /** The lost objects or values, by name; undefined if a loss has no name. Absent if the row always counts. */
  readonly lost?: (found: Hazards, change: StateChange) => readonly string[] | undefined;
  /** Why the change is refused; absent if only an undo has the rule. */
  readonly refused?: Words;
  /** Why the undo leaves the object; absent if only a change has the rule. */
  readonly left?: Words;
  /** Whether the undo waits for the undo of the targets of this Transaction that would be lost. */
  readonly awaits?: true;
  /** In k8s.io/kubernetes, if no other repository is named. */
  readonly source: string;
}

export type Read = 'dependents' | 'tokens' | 'pods' | 'contents' | 'volumes' | 'endpoints' | 'values' | 'claims' | 'storage';

const definition = 'apiextensions.k8s.io/CustomResourceDefinition';

const isDeleted = ({ before, after }: StateChange): boolean => before !== undefined && after === undefined;

function changed(isSo: (before: JsonObject, after: JsonObject) => boolean): (change: StateChange) => boolean {
  return ({ before, after }) => before !== undefined && after !== undefined && isSo(before, after);
}

const created: Words = ({ target, undo }) =>
  `${describe(target)} was created by ${undo?.isRollback === true ? 'a Transaction that the rollback undoes' : 'this Transaction'}`;

/** The object that a rollback takes away: others' loss counts as in the undo of its Create. */
export const takenByRollback = { expected: undefined, wasCommitted: true, isRollback: true } as const;

/** With an object that is deleted Kubernetes deletes others. */
const deletion = {
  isTriggered: isDeleted,
  lost: ({ lost }: Hazards) => lost,
  refused: (_: StateChange, names: string) => `Kubernetes would also delete the objects that it owns (${names})`,
  left: (change: StateChange, names: string) =>
    `${created(change, names)}, and others' objects would be deleted with it: ${names}`,
  awaits: true,
} as const;

/** The undo would lose as much as a change. */
function notAsBefore(why: Words, next = ''): Pick<Hazard, 'refused' | 'left'> {
  return {
    refused: why,
    left: (change, names) =>
      `${describe(change.target)} cannot be as it was before: ${why(change, names)}${names === '' ? '' : ` (${names})`}${next}; then retry the rollback`,
  };
}

const wouldDeleteVolume = 'Kubernetes would delete the volume with what it holds';

/** The first row that counts decides. */
const hazards: readonly Hazard[] = [
  { ...deletion, read: 'dependents', source: 'pkg/controller/garbagecollector' },
  { ...deletion, kind: '/ServiceAccount', read: 'tokens', source: 'pkg/controller/serviceaccount/tokens_controller.go' },
  // Its Endpoints and EndpointSlices.
  { ...deletion, kind: '/Service', read: 'dependents', source: 'pkg/registry/core/service/storage/storage.go' },
  { ...deletion, kind: '/Node', read: 'pods', source: 'pkg/controller/podgc/gc_controller.go' },
  { ...deletion, kind: '/Namespace', read: 'contents', source: 'pkg/controller/namespace/deletion' },
  {
    ...deletion,
    kind: definition,
    read: 'contents',
    source: 'apiextensions-apiserver pkg/controller/finalizer/crd_finalizer.go',
  },
  {
    ...deletion,
    kind: '/PersistentVolume',
    read: 'contents',
    source: 'pkg/controller/volume/persistentvolume/pv_controller.go, syncClaim: a claim without its volume is Lost',
  },
  {
    isTriggered: isDeleted,
    read: 'volumes',
    lost: ({ claims }, { undo }) => (undo?.wasCommitted === true ? claims : []),
    left: (change, names) =>
      `${created(change, names)}, and Kubernetes deletes these claims with it: ${names}; their volumes may hold data`,
    source: 'pkg/controller/statefulset/stateful_set_utils.go, updateClaimOwnerRefForSetAndPod',
  },
  {
    kind: '/PersistentVolumeClaim',
    isTriggered: isDeleted,
    lost: (_, { before, undo }) => (undo?.wasCommitted === true ? boundVolume(before, undo.expected) : []),
    left: (change, names) => `${created(change, names)} and is bound to PersistentVolume ${names}, which may hold data`,
    source: 'pkg/controller/volume/persistentvolume/pv_controller.go, reclaimVolume',
  },
  {
    // If a volume was made for a claim of a Transaction that was never Committed, its data belongs to no user.
    isTriggered: isDeleted,
    read: 'volumes',
    lost: ({ volumes }) => volumes,
    left: (change, names) =>
      `${created(change, names)}, and Kubernetes would delete with it these volumes, which existed before: ${names}; to keep them, set their reclaim policy to Retain, then retry the rollback`,
    source: 'pkg/controller/volume/persistentvolume/pv_controller.go, reclaimVolume',
  },
  {
    kind: '/Service',
    isTriggered: ({ before, after }) =>
      after !== undefined && isFedByKubernetes(after) && (before === undefined || !isFedByKubernetes(before)),
    read: 'endpoints',
    lost: ({ lost }) => lost,
    refused: ({ target }) => `with a selector Kubernetes would overwrite the Endpoints ${target.name}, which somebody made`,
    left: ({ target }, names) =>
      `others wrote ${names} since ${describe(target)} lost its selector, and Kubernetes would overwrite them; copy or delete them, then retry the rollback`,
    source: 'pkg/controller/endpoint/endpoints_controller.go, syncService',
  },
  {
    kind: definition,
    isTriggered: changed((before, after) => pruningVersions(before, after).length > 0),
    read: 'values',
    lost: ({ lost }) => lost,
    refused: (_, names) => `these objects hold values in fields that the new schema drops: ${names}`,
    left: ({ target }, names) =>
      `these objects hold values in fields that ${describe(target)} would no longer have, and that would be lost: ${names}; remove the values, then retry the rollback`,
    awaits: true,
    source: 'apiextensions-apiserver pkg/apiserver/schema/pruning/algorithm.go',
  },
  {
    // The claims that a StatefulSet got belong to no user, unless the Transaction was Committed, or the claims are older.
    kind: 'apps/StatefulSet',
    isTriggered: changed(losesPods),
    read: 'claims',
    lost: ({ claims, volumes, forbiddenKinds }, { after, undo }) => {
      if (!deletesClaims(after)) return [];
      if (undo?.wasCommitted !== true) return undo && volumes;
      return [...claims, ...(forbiddenKinds.length > 0 ? ['claims that the ServiceAccount may not list'] : [])];
    },
    ...notAsBefore(
      () => 'Kubernetes would delete the claims of the Pods that go, and what their volumes hold, since whenScaled is Delete',
      '; to keep them, set whenScaled to Retain',
    ),
    source: 'pkg/controller/statefulset/stateful_set_control.go, processCondemned',
  },
  {
    kind: '/PersistentVolume',
    isTriggered: changed(isOtherClaim),
    ...notAsBefore(
      ({ after }) =>
        `${wouldDeleteVolume} if no claim has that name and uid: its claimRef changes, and its policy is ${policyOf(after)}`,
    ),
    source: 'pkg/controller/volume/persistentvolume/pv_controller.go, reclaimVolume',
  },
  {
    kind: '/PersistentVolume',
    isTriggered: changed(isUnclaimed),
    ...notAsBefore(({ after }) => `${wouldDeleteVolume}: no claim is bound to it, and its policy is ${policyOf(after)} then`),
    source: 'pkg/controller/volume/persistentvolume/pv_controller.go, reclaimVolume',
  },
  {
    kind: '/Secret',
    isTriggered: changed(getsStrayToken),
    refused: () => 'Kubernetes would delete the Secret, or its token, since it would be of another ServiceAccount',
    source: 'pkg/controller/serviceaccount/tokens_controller.go, syncSecret',
  },
  // From here on: what the API server does not allow to be set back.
  {
    isTriggered: changed((before, after) => at(after, 'immutable') === true && at(before, 'immutable') !== true),
    refused: () => 'it becomes immutable',
    source: 'pkg/apis/core/validation, ValidateConfigMapUpdate and ValidateSecretUpdate',
  },
  {
    kind: '/PersistentVolumeClaim',
    isTriggered: changed(shrinksBack),
    refused: () => 'a claim can grow but not shrink',
    source: 'pkg/apis/core/validation, ValidatePersistentVolumeClaimUpdate',
  },
  {
    // The undo takes the new version out of status.storedVersions (attribution/stored-versions.ts), if no objects may be stored in it.
    kind: definition,
    isTriggered: changed(isStorageMoved),
    read: 'storage',
    lost: ({ movesBack }) => (movesBack === true ? [] : undefined),
    refused: ({ before, after }) =>
      `its objects would be stored as ${storageOf(after)} and no longer as ${storageOf(before)}; that is undone only for a kind without objects, by who may update customresourcedefinitions/status`,
    source: 'apiextensions-apiserver pkg/apis/apiextensions/validation, ValidateCustomResourceDefinitionStoredVersions',
  },
  {
    kind: 'batch/Job',
    isTriggered: changed(isResumedOtherwise),
    refused: () => 'the template of a running Job cannot be restored',
    source: 'pkg/registry/batch/job/strategy.go',
  },
  {
    isTriggered: (change) => oneWayField(change) !== undefined,
    refused: (change) => {
      const field = oneWayField(change);
      return `the API server does not allow ${field?.path} to be restored once it is ${field?.change}`;
    },
    source: 'docs/one-way.md',
  },
];

/** Why the change is refused, or why its undo leaves the object or waits. */
type Verdict =
  | { readonly kind: 'conflict'; readonly reason: 'NotEmpty'; readonly message: string }
  | { readonly kind: 'wait'; readonly message: string };

const mostShown = { refused: 3, left: 5 };

/** What the first row that counts says of the change, or of the undo; undefined if others lose nothing. */
export function evaluateHazards(change: StateChange, found: Hazards): Verdict | undefined {
  for (const row of triggeredBy(change)) {
    const verdict = verdictOf(row, change, found);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

function verdictOf(row: Hazard, change: StateChange, found: Hazards): Verdict | undefined {
  const direction = change.undo === undefined ? 'refused' : 'left';
  const words = row[direction];
  const names = row.lost?.(found, change);
  if (words !== undefined && names?.length !== 0)
    return { kind: 'conflict', reason: 'NotEmpty', message: words(change, shownOf(names ?? [], mostShown[direction])) };
  if (row.awaits === undefined || found.awaited.length === 0) return undefined;
  const which = shownOf(
    found.awaited.map(({ name }) => name),
    mostShown.left,
  );
  return { kind: 'wait', message: `waiting to undo ${describe(change.target)} until these are undone: ${which}` };
}

/** What must be read to evaluate the change. */
export function readsOf(change: StateChange): readonly Read[] {
  return triggeredBy(change).flatMap(({ read }) => (read === undefined ? [] : [read]));
}

function triggeredBy(change: StateChange): readonly Hazard[] {
  return hazards.filter(({ kind, isTriggered }) => (kind === undefined || kind === change.kind) && isTriggered(change));
}
