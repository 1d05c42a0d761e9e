import type { Command } from './command.ts';

export const completion: Command = {
  name: 'completion',
  summary: 'print the completion for a shell: bash, zsh, fish or powershell',
  description: 'For `kubectl janus`, kubectl itself completes, by the program kubectl_complete-janus of this package.',
  operands: ['<shell>'],
  connects: false,
  examples: ['completion bash > ~/.local/share/bash-completion/completions/janus', 'completion zsh > ~/.zsh/completions/_janus'],
  run: async (call) => (await import('../run/completion.ts')).run(call),
};

/** What the completions of the shells call: the words so far, the last one to be completed. Answers as kubectl's plugins do. */
export const complete: Command = {
  name: '__complete',
  summary: 'complete a command line',
  operands: ['[words...]'],
  connects: false,
  hidden: true,
  verbatim: true,
  run: async (call) => (await import('../run/complete.ts')).run(call),
};
