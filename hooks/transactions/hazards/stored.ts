// What is stored in volumes, and goes with an object.

/** In words. */
export interface Stored {
  /** PersistentVolumeClaims with a volume that a controller made for the object, and deletes with it. */
  readonly claims: readonly string[];
  /** Volumes that were not made for the claim, and that Kubernetes deletes with it. */
  readonly volumes: readonly string[];
}

export const noData: Stored = { claims: [], volumes: [] };
