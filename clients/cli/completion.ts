export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

type Words = { name: string; verbs: readonly string[] };

/** The script that completes a resource and its verbs in a shell. */
export function completionFor(shell: Shell, words: readonly Words[]): string {
  return scripts[shell](words);
}

const namesOf = (words: readonly Words[]): string => words.map(({ name }) => name).join(' ');
const withVerbs = (words: readonly Words[]) => words.filter(({ verbs }) => verbs.length > 0);

const scripts: Record<Shell, (words: readonly Words[]) => string> = {
  bash: (words) => `_postrider() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  case "$COMP_CWORD:\${COMP_WORDS[1]}" in
    1:*) COMPREPLY=($(compgen -W "${namesOf(words)}" -- "$word")) ;;
${withVerbs(words)
  .map(
    ({ name, verbs }) =>
      `    2:${name}) COMPREPLY=($(compgen -W "${verbs.join(' ')}" -- "$word")) ;;`,
  )
  .join('\n')}
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -F _postrider postrider
`,
  zsh: (words) => `#compdef postrider
_postrider() {
  case "$CURRENT:\${words[2]}" in
    2:*) compadd ${namesOf(words)} ;;
${withVerbs(words)
  .map(({ name, verbs }) => `    3:${name}) compadd ${verbs.join(' ')} ;;`)
  .join('\n')}
    *) _files ;;
  esac
}
compdef _postrider postrider
`,
  fish: (words) => `complete -c postrider -n __fish_use_subcommand -a '${namesOf(words)}'
${withVerbs(words)
  .map(
    ({ name, verbs }) =>
      `complete -c postrider -n '__fish_seen_subcommand_from ${name}' -a '${verbs.join(' ')}'`,
  )
  .join('\n')}
`,
};
