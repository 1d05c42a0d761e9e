// The port: the functions of the outside world that the engine needs. Every stage before `perform` gets only a Reader; dry runs and
// access reviews have no effect and count as reads. Expected failures are values; a rejected promise is a bug.
import type { Failure } from './failure.ts';
import type { JsonObject } from './json.ts';

/** The identity of a request: the engine itself, or a ServiceAccount by impersonation. */
export type Identity =
  | { readonly kind: 'engine' }
  | { readonly kind: 'serviceAccount'; readonly namespace: string; readonly name: string };

/** How the API server serves a kind (from discovery only, or from the CustomResourceDefinition that will define it). */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** Whether `status` is a subresource; if not, status is content. */
  readonly statusSubresource: boolean;
  /** Whether `scale` is a subresource. */
  readonly scale?: boolean;
}

export interface Location {
  readonly resource: Resource;
  /** Absent for cluster-scoped resources. */
  readonly namespace?: string;
  readonly name: string;
}

export interface Failed {
  readonly kind: 'failed';
  readonly failure: Failure;
}

/** What the API server warns of when it accepts a write: a deprecated kind, a Pod that Pod security will refuse. */
export interface Warnings {
  /** How many there are. */
  readonly count: number;
  /** The first of them, clean and bounded (words.ts). They may quote values of the object. Absent if they are not shown. */
  readonly texts?: readonly string[];
}

/** `serverTime` is the API server's `Date` header in ms since the epoch, with a resolution of one second. */
export type Answer =
  | {
      readonly kind: 'ok';
      readonly object: JsonObject;
      readonly serverTime: number;
      /** Of a write and its dry run. */
      readonly warnings?: Warnings;
    }
  | Failed;

export type ListAnswer =
  | {
      readonly kind: 'ok';
      readonly items: readonly JsonObject[];
      /** Whether the list is complete. */
      readonly complete: boolean;
      /** The token for the rest of the list; empty if there is none. */
      readonly next: string;
      /** Length of the whole answer, in characters. */
      readonly size: number;
      readonly serverTime: number;
    }
  | Failed;

export type ResourceAnswer = { readonly kind: 'ok'; readonly resource: Resource } | Failed;

export type ResourcesAnswer =
  | {
      readonly kind: 'ok';
      readonly resources: readonly Resource[];
      /** Groups with their versions whose API server is away, and whose resources are unknown. */
      readonly away: readonly string[];
      /** Groups with their versions whose API server is away, and whose resources are known from before. */
      readonly stale?: readonly string[];
    }
  | Failed;

export type AccessAnswer = { readonly kind: 'ok'; readonly allowed: boolean } | Failed;

/** The version that a write is based on. The API server answers 409 if it is no longer the stored one. */
export interface Precondition {
  readonly uid: string;
  readonly resourceVersion: string;
}

interface WriteBase {
  readonly identity: Identity;
  readonly location: Location;
}

/**
 * One request that changes an object. The adapter puts preconditions into the part that the API server reads. This part is the
 * metadata of the body for update and apply, and `preconditions` of DeleteOptions for delete. The only precondition of a create is
 * the absence of the object.
 */
export type Write =
  | (WriteBase & { readonly verb: 'create'; readonly object: JsonObject; readonly fieldManager: string })
  | (WriteBase & {
      readonly verb: 'update';
      readonly object: JsonObject;
      readonly precondition: Precondition;
      readonly fieldManager: string;
      readonly subresource?: 'status';
    })
  | (WriteBase & {
      readonly verb: 'apply';
      readonly object: JsonObject;
      /** `absent`: the object is created, and must not exist. */
      readonly precondition: Precondition | 'absent';
      readonly fieldManager: string;
      /**
       * Whether the API server refuses the write if another manager owns a field with another value. Otherwise the write takes the
       * field over.
       */
      readonly failOnConflict?: true;
    })
  | (WriteBase & { readonly verb: 'delete'; readonly precondition: Precondition });

export interface AccessQuestion {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface ListOptions {
  /** Items at most; `complete` of the answer shows whether there are more. */
  readonly limit?: number;
  /** Continues a list from the token `next` of an earlier answer. */
  readonly from?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Only objects of this name. */
  readonly name?: string;
  /** Whole objects, if their metadata is not enough. */
  readonly whole?: boolean;
  /** The API server's answer is cut off beyond this size, in bytes: its failure has the reason `AnswerTooLarge`. */
  readonly mostBytes?: number;
}

export interface Reader {
  get(location: Location, identity: Identity): Promise<Answer>;
  /** Metadata only (PartialObjectMetadata): cheap even for a large object. */
  getMetadata(location: Location, identity: Identity): Promise<Answer>;
  /** Metadata of the objects of a resource, in one namespace or, without one, in the whole cluster. */
  listMetadata(resource: Resource, namespace: string | undefined, identity: Identity, options: ListOptions): Promise<ListAnswer>;
  /**
   * Resolves a kind through discovery. The adapter reads discovery once more if the kind is unknown. `absent` if no API server
   * serves the kind.
   */
  resource(apiVersion: string, kind: string): Promise<ResourceAnswer>;
  /** Every resource that the API server serves, at its preferred version. */
  resources(): Promise<ResourcesAnswer>;
  /** SelfSubjectAccessReview as that identity. */
  allowed(question: AccessQuestion, identity: Identity): Promise<AccessAnswer>;
  /** The write with `dryRun=All`: the resulting object, or the refusal. */
  dryRun(write: Write): Promise<Answer>;
}

/** A container whose log is read. */
export interface LogQuery {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** The run before the present one. */
  readonly previous: boolean;
}

type LogAnswer = { readonly kind: 'ok'; readonly text: string } | Failed;

export interface Logs {
  /** About the last 20 lines, as the container has printed them. */
  logs(query: LogQuery, identity: Identity): Promise<LogAnswer>;
}

export interface Writer {
  /**
   * Performs one write. For a delete, `object` is the API server's answer (the object, or a Status). The adapter calls `isLate`
   * once it has sent the head of the request. If `isLate` returns true, the adapter does not complete the write, and the write has
   * no effect.
   */
  send(write: Write, isLate?: () => boolean): Promise<Answer>;
}

export interface Cluster extends Reader, Writer, Logs {}

/** Makes stored text provably the engine's, and unreadable if it must be. */
export type Sealer = Packer;

/** Monotonic time in ms, only for deadlines of a call. Everything else follows the API server's clock. */
export interface Clock {
  monotonic(): number;
  /** Resolves after so many ms. */
  sleep(milliseconds: number): Promise<void>;
}

/** CEL with one variable, `object`. */
export interface Expressions {
  /**
   * `why`: why the text is no expression over `object`. `late`: the text had no turn within `wait` ms; the next call tries again.
   */
  compile(text: string, requester: Requester, wait: number): Promise<{ readonly why?: string } | 'late'>;
  /** No message holds a value of the object. `late`: the expression had no turn in time; the next call tries again. */
  evaluate(text: string, object: JsonObject, requester: Requester): Promise<ExpressionResult | 'late'>;
}

/** `why`: a predicate, such as `is not UTF-8`; it repeats no part of the text that was read. */
interface Unreadable {
  readonly kind: 'unreadable';
  readonly why: string;
}

export type Unpacked = { readonly kind: 'bytes'; readonly bytes: Uint8Array } | Unreadable;

/** `values`: maps, lists and scalars in it. */
export type Manifest = { readonly kind: 'object'; readonly object: JsonObject; readonly values: number } | Unreadable;

/**
 * One object in JSON or YAML, gzip or not, as people store manifests. Neither function throws, whatever the text is. Memory and
 * time have bounds, whatever the text is.
 */
export interface Manifests {
  /** The bytes, unpacked if they are gzip. Unreadable if there are more than `most`. */
  unpack(bytes: Uint8Array, most: number): Promise<Unpacked>;
  /**
   * The one object in unpacked bytes. `late`: the bytes are YAML, and had no turn within `wait` ms, because other Transactions had
   * their turns first. The next call tries again.
   */
  parse(bytes: Uint8Array, requester: Requester, wait: number): Promise<Manifest | 'late'>;
}

/**
 * The result of a CEL expression. `unset`: it reads a field that is not there (yet). `broken`: no bool, or too much work; in words.
 */
export type ExpressionResult =
  | { readonly kind: 'value'; readonly value: boolean }
  | { readonly kind: 'unset' }
  | { readonly kind: 'broken'; readonly message: string };

/**
 * The Transaction that a task is for. Namespaces have their turns one after the other, and the Transactions of one namespace have
 * theirs one after the other, too.
 */
export interface Requester {
  readonly namespace: string;
  readonly uid: string;
}

/**
 * Makes text recognisable as the engine's if it is stored in a place where others can write. If others must not read the text, it
 * is sealed (AES-256-GCM); otherwise it is tagged (HMAC-SHA-256). `context` names the place of the text, and must agree when the
 * text is read. These functions never throw, whatever text they read.
 */
export interface Packer {
  seal(text: string, context: string): string;
  /**
   * Undefined if the text was tampered with, has another context, or expands to more than `most` bytes. Also undefined if it was
   * sealed with a key that the engine does not have. The function expands only authentic text.
   */
  open(sealed: string, context: string, most: number): string | undefined;
  /** Proves that the text is the engine's, and belongs to that context. */
  tag(text: string, context: string): string;
  isTagged(text: string, tag: string, context: string): boolean;
  /**
   * Texts that no attacker can guess and every process finds again: one for each key that the engine has, that of the current key
   * first.
   */
  derive(text: string): readonly [string, ...string[]];
  compress(text: string): string;
  /** Undefined if the text is not a result of `compress`, or expands to more than `most` bytes. */
  expand(compressed: string, most: number): string | undefined;
}
