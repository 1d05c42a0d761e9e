// What a command is: data for the help, the completion and docs/cli.md, and a function. A command file imports at its top only
// what costs nothing to load; its `run` loads the file of that name in cli/run/, and with it the cluster, YAML and the rest.
import type { Session } from '../cluster/session.ts';
import type { Io } from '../io.ts';

export interface Option {
  /** As commander reads them: `-n, --namespace <name>`. */
  readonly flags: string;
  readonly description: string;
  /** The option may be given several times; its value is a list. */
  readonly repeats?: true;
  readonly choices?: readonly string[];
  /** What completes its value. */
  readonly completes?: Completes;
}

/** What completes a word: names that the cluster has, or files. */
export type Completes = 'transactions' | 'namespaces' | 'contexts' | 'files';

export interface Command {
  readonly name: string;
  /** One line, no full stop. */
  readonly summary: string;
  /** Further sentences of its help. */
  readonly description?: string;
  /** As commander reads them: `[name]`, `<name>`, `[words...]`. */
  readonly operands?: readonly string[];
  readonly completes?: Completes;
  /** `true` if it speaks to a cluster: it then has the options of connections, too. */
  readonly connects: boolean;
  readonly options?: readonly Option[];
  /** Command lines without the name of the program. */
  readonly examples?: readonly string[];
  /** Not in the help. */
  readonly hidden?: true;
  /** It changes something: after Ctrl-C it has a moment to say what. */
  readonly writes?: true;
  /** The exit code of what is not done, where 1 is a result. */
  readonly notDone?: 3;
  /** Words after its name are not read as options. */
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
  /** All that there are, for the completion. */
  readonly commands: readonly Command[];
  /** The same session at each call. Throws a Problem if there is no usable kubeconfig. */
  connect(): Promise<Session>;
}

export interface Options {
  flag(name: string): boolean;
  text(name: string): string | undefined;
  list(name: string): readonly string[];
}

export function optionsOf(values: Readonly<Record<string, unknown>>): Options {
  return {
    flag: (name) => values[name] === true,
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

/** Of every command that speaks to a cluster; they mean what they mean to kubectl. */
export const connectionOptions: readonly Option[] = [
  { flags: '-n, --namespace <name>', description: 'namespace; by default that of the context', completes: 'namespaces' },
  { flags: '--context <name>', description: 'context of the kubeconfig', completes: 'contexts' },
  { flags: '--kubeconfig <file>', description: 'kubeconfig file, in place of KUBECONFIG and ~/.kube/config', completes: 'files' },
  { flags: '--request-timeout <duration>', description: 'how long one request may take, such as 10s; 0 for no limit of its own' },
];

export const colorOption: Option = {
  flags: '--color <when>',
  description: 'colours; auto: at a terminal, without NO_COLOR',
  choices: ['auto', 'always', 'never'],
};

export const timeoutOption: Option = {
  flags: '--timeout <duration>',
  description: 'how long to follow, such as 5m; by default without end. The Transaction goes on in any case',
};

/** What is read. */
export const inputOptions: readonly Option[] = [
  { flags: '-f, --filename <path>', description: 'file or folder; - for standard input', repeats: true, completes: 'files' },
  { flags: '-R, --recursive', description: 'the folders in a folder, too' },
  {
    flags: '-k, --kustomize <folder>',
    description: 'folder with a kustomization, built by kustomize or kubectl',
    completes: 'files',
  },
];

/** For what changes something. */
export const yesOption: Option = { flags: '-y, --yes', description: 'do not ask' };
export const waitOption: Option = { flags: '--wait', description: 'follow it until it has ended; the exit code says how' };
export const engineOption: Option = {
  flags: '--engine-namespace <name>',
  description: 'namespace of the engine; by default janus-system',
};

/** The options of a command, those of its connection last. */
export function optionsFor(command: Command): readonly Option[] {
  return [...(command.options ?? []), ...(command.connects ? connectionOptions : [])];
}
