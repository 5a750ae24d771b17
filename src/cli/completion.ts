/** `rcra completion`: scripts that let a shell complete this command. They ask `rcra __complete`. */
import { print } from "./output.ts";
import { EXIT } from "./exit-codes.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Prints a shell's script. Returns the exit code. */
export function completionCommand(shell: Shell): number {
  print(SCRIPTS[shell]);
  return EXIT.completed;
}

/**
 * Each hands over the words up to the cursor, and reads back a first line that says what may stand there (`words`,
 * `files` or `folders`), then the words, each with a description behind a tab.
 */
const SCRIPTS: { [S in Shell]: string } = {
  bash: `# rcra completion for bash: put this line into ~/.bashrc
#   source <(rcra completion bash)
_rcra() {
  local IFS=$'\\n' line
  local lines=()
  while read -r line; do lines+=("$line"); done < <("$1" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  case "\${lines[0]}" in
    files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$2")) ;;
    folders) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$2")) ;;
    words) for line in "\${lines[@]:1}"; do COMPREPLY+=("\${line%%$'\\t'*}"); done ;;
  esac
}
complete -F _rcra rcra
`,
  zsh: `#compdef rcra
# rcra completion for zsh: put these lines into ~/.zshrc
#   autoload -Uz compinit && compinit
#   source <(rcra completion zsh)
_rcra() {
  local -a lines candidates
  local line about
  lines=("\${(@f)$("$words[1]" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case "$lines[1]" in
    files) _files ;;
    folders) _files -/ ;;
    words)
      for line in "\${(@)lines[2,-1]}"; do
        about="\${line#*$'\\t'}"
        candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}\${about:+:$about}")
      done
      _describe rcra candidates ;;
  esac
}
compdef _rcra rcra
`,
  fish: `# rcra completion for fish: put this line into ~/.config/fish/config.fish
#   rcra completion fish | source
function __rcra_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l lines ($words[1] __complete -- $words[2..-1] 2>/dev/null)
  switch $lines[1]
    case files
      __fish_complete_path (commandline -ct)
    case folders
      __fish_complete_directories (commandline -ct)
    case words
      printf '%s\\n' $lines[2..-1]
  end
end
complete -c rcra -f -a '(__rcra_complete)'
`,
};
