import type { Command } from './command.ts';

export const completion: Command = {
  name: 'completion',
  summary: 'print the completion script for a shell: bash, zsh, fish or powershell',
  description: 'For `kubectl janus`, kubectl calls the program kubectl_complete-janus of this package.',
  operands: ['<shell>'],
  connects: false,
  examples: ['completion bash > ~/.local/share/bash-completion/completions/janus', 'completion zsh > ~/.zsh/completions/_janus'],
  run: async (call) => (await import('../run/completion.ts')).run(call),
};

/** The completion scripts call it with the words so far; it completes the last word. It prints the format of kubectl's plugins. */
export const complete: Command = {
  name: '__complete',
  summary: 'complete a command line',
  operands: ['[words...]'],
  connects: false,
  hidden: true,
  verbatim: true,
  run: async (call) => (await import('../run/complete.ts')).run(call),
};
