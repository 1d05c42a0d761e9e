// The type of a command: data for the help, the completion and docs/cli.md, and a function. A command file imports only modules
// that load fast. Its `run` loads the file of that name in cli/run/, which loads the cluster client and the YAML parser.
import type { Session } from '../cluster/session.ts';
import type { Io } from '../io.ts';

export interface Option {
  /** In the notation of commander: `-n, --namespace <name>`. */
  readonly flags: string;
  readonly description: string;
  /** The option may be given several times; its value is a list. */
  readonly repeats?: true;
  readonly choices?: readonly string[];
  /** The source of the values that complete the option. */
  readonly completes?: Completes;
}

/** Completions come from names in the cluster, or from files. */
export type Completes = 'transactions' | 'namespaces' | 'contexts' | 'files';

type ExitCodes = Readonly<Record<number, string>>;

const usualExits: ExitCodes = { 0: 'done', 1: 'not done', 64: 'wrong use', 130: 'interrupted by Ctrl-C' };

/** Of commands that follow a Transaction. */
export const followedExits: ExitCodes = {
  0: 'done; with --wait, --watch or --to: it ended as wanted (Committed, or RolledBack on request)',
  1: 'not done: refused by the API server, not found, no connection',
  2: 'Failed, nothing was applied',
  3: 'RolledBack without being requested; or the engine refused the undo, or its plan',
  4: 'Failed, some objects are not restored',
  5: '--timeout has passed; the Transaction continues',
};

/** All exit codes of a command. */
export function exitsOf({ exits = {} }: Command): ExitCodes {
  return { ...usualExits, ...exits };
}

export interface Command {
  readonly name: string;
  /** One line, no full stop. */
  readonly summary: string;
  /** More sentences for the help of the command. */
  readonly description?: string;
  /** In the notation of commander: `[name]`, `<name>`, `[words...]`. */
  readonly operands?: readonly string[];
  readonly completes?: Completes;
  /** Whether the command connects to a cluster. Then it also has the connection options. */
  readonly connects: boolean;
  readonly options?: readonly Option[];
  /** What its exit codes mean, if they are not the usual ones. */
  readonly exits?: ExitCodes;
  /** Command lines without the name of the program. */
  readonly examples?: readonly string[];
  /** The help does not list the command. */
  readonly hidden?: true;
  /** The command changes objects. After Ctrl-C it has a moment to report the changes. */
  readonly writes?: true;
  /** The exit code of a command that fails, if its exit code 1 is a result. */
  readonly notDone?: 3;
  /** commander does not read words after the name as options. */
  readonly verbatim?: true;
  /** Resolves with the exit code. Throws a Problem. */
  run(call: Call): Promise<number>;
}

/** One use of a command. */
export interface Call {
  readonly io: Io;
  readonly operands: readonly string[];
  /** Values by the camel-cased name of the option. */
  readonly options: Options;
  /** All commands, for the completion. */
  readonly commands: readonly Command[];
  /** Every call returns one session. Throws a Problem if there is no usable kubeconfig. */
  connect(): Promise<Session>;
}

export interface Options {
  flag(name: string): boolean;
  /** Whether the user gave `--no-NAME`. */
  isOff(name: string): boolean;
  text(name: string): string | undefined;
  list(name: string): readonly string[];
}

export function optionsOf(values: Readonly<Record<string, unknown>>): Options {
  return {
    flag: (name) => values[name] === true,
    isOff: (name) => values[name] === false,
    text: (name) => {
      const value = values[name];
      return typeof value === 'string' ? value : undefined;
    },
    list: (name) => {
      const value = values[name];
      return Array.isArray(value) ? value.map(String) : [];
    },
  };
}

/** Every command that connects to a cluster has these options. They have kubectl's meaning. */
export const connectionOptions: readonly Option[] = [
  {
    flags: '-n, --namespace <name>',
    description: 'namespace; the default is the namespace of the context',
    completes: 'namespaces',
  },
  { flags: '--context <name>', description: 'context of the kubeconfig', completes: 'contexts' },
  { flags: '--kubeconfig <file>', description: 'kubeconfig file, instead of KUBECONFIG and ~/.kube/config', completes: 'files' },
  { flags: '--request-timeout <duration>', description: 'time limit of one request, such as 10s; 0 for no limit' },
];

export const colorOption: Option = {
  flags: '--color <when>',
  description: 'colours; auto: at a terminal, without NO_COLOR',
  choices: ['auto', 'always', 'never'],
};

/** The result as a document; each kind has a schema in schemas/. */
export const outputOption: Option = {
  flags: '-o, --output <format>',
  description: 'print the result as data',
  choices: ['json', 'yaml'],
};

export const timeoutOption: Option = {
  flags: '--timeout <duration>',
  description: 'how long to follow, such as 5m; the default is no limit. The Transaction continues after the timeout',
};

/** Options that name the input. */
export const inputOptions: readonly Option[] = [
  { flags: '-f, --filename <path>', description: 'file, folder or URL; - for standard input', repeats: true, completes: 'files' },
  { flags: '-R, --recursive', description: 'also read the subfolders of a folder' },
  {
    flags: '-k, --kustomize <folder>',
    description: 'folder with a kustomization, built by kustomize or kubectl',
    completes: 'files',
  },
];

export const selectorOption: Option = {
  flags: '-l, --selector <selector>',
  description: 'only Transactions with these labels, such as app=shop',
};

/** Options of commands that change objects. */
export const yesOption: Option = { flags: '-y, --yes', description: 'do not ask' };
export const waitOption: Option = {
  flags: '--wait',
  description: 'follow the Transaction until it ends; the exit code shows its result',
};
export const engineOption: Option = {
  flags: '--engine-namespace <name>',
  description: 'namespace of the engine; the default is janus-system',
};

/** The options of a command. The connection options come last. */
export function optionsFor(command: Command): readonly Option[] {
  return [...(command.options ?? []), ...(command.connects ? connectionOptions : [])];
}
