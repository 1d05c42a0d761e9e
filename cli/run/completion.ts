import type { Call } from '../command/command.ts';
import { say } from '../io.ts';
import { exits, wrongUse } from '../problem.ts';

// Each script passes the words on, and reads lines of `word<TAB>description`. The last line is `:N`; N is 4 if the shell must not
// complete files. kubectl uses this protocol of cobra for its plugins.

const bash = `_janus() {
  local line out IFS=$'\\n'
  out=$(janus __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) || return
  COMPREPLY=()
  for line in $out; do
    [[ $line == :0 ]] && COMPREPLY+=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
    [[ $line == :* ]] || COMPREPLY+=("\${line%%$'\\t'*}")
  done
}
complete -F _janus janus`;

const zsh = `#compdef janus
_janus() {
  local line
  local -a found
  for line in "\${(@f)$(janus __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :0) _files ;;
      :*) ;;
      *) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  _describe janus found
}
if [ "$funcstack[1]" = "_janus" ]; then _janus "$@"; else compdef _janus janus; fi`;

const fish = `function __janus_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l lines (janus __complete $words[2..-1] 2>/dev/null)
  contains -- ':0' $lines; and __fish_complete_path (commandline -ct)
  string match -v ':*' -- $lines
end
complete -c janus -f -a '(__janus_complete)'`;

const powershell = `Register-ArgumentCompleter -Native -CommandName janus -ScriptBlock {
  param($word, $line, $position)
  $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($word -eq '') { $words += '' }
  janus __complete @words 2>$null | Where-Object { $_ -notmatch '^:' } | ForEach-Object {
    $name, $text = $_ -split "\`t", 2
    [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $(if ($text) { $text } else { $name }))
  }
}`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish, powershell };

export async function run({ io, operands }: Call): Promise<number> {
  const script = scripts[operands[0] ?? ''];
  if (script === undefined) throw wrongUse(`completion knows ${Object.keys(scripts).join(', ')}; found "${operands[0]}".`);
  say(io, script);
  return exits.done;
}
