// `pintle completion`: scripts that let bash, zsh and fish complete commands and flags. They are made from the commands, so that a new flag is
// completed without further work.
import { StartError } from '../options/options.ts';
import { text } from '../options/schema.ts';
import { type Command, print } from './command.ts';

const schema = { shell: text({ flag: 'shell', help: 'bash, zsh or fish.' }) } as const;

interface Completion {
  readonly command: string;
  readonly flags: readonly string[];
}

/** The command that prints completions for the others. */
export function createCompletionCommand(commands: () => readonly Command[]): Command<typeof schema> {
  return {
    name: 'completion', summary: 'Print a completion script for a shell (--shell bash, zsh or fish).', schema,
    async run({ settings: { shell } }) {
      const format = { bash: formatBash, zsh: formatZsh, fish: formatFish }[shell];
      if (format === undefined) throw new StartError('completion needs --shell bash, zsh or fish');
      return print(format(commands().map(({ name, schema: { ...options }, reference = new Map() }) => ({
        command: name,
        flags: [...Object.values(options).flatMap(({ flag }) => (flag === undefined ? [] : [flag])), ...reference.keys(), 'help'].map((flag) => `--${flag}`),
      }))));
    },
  };
}

const wordsOf = (completions: readonly Completion[]): string[] => [...new Set(completions.flatMap(({ command }) => command.split(' ')))];

function formatBash(completions: readonly Completion[]): string {
  const cases = completions.map(({ command, flags }) => `    "${command}") words="${flags.join(' ')}" ;;`);
  return [
    '_pintle() {', '  local current="${COMP_WORDS[COMP_CWORD]}" command="" word words',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do case "$word" in -*) ;; *) command="${command:+$command }$word" ;; esac; done',
    '  case "$command" in', ...cases, `    *) words="${wordsOf(completions).join(' ')} --help" ;;`, '  esac',
    '  if [ -z "$command" ]; then words="$words ' + wordsOf(completions).join(' ') + '"; fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))', '}', 'complete -o default -F _pintle pintle',
  ].join('\n');
}

const formatZsh = (completions: readonly Completion[]): string => ['autoload -Uz bashcompinit && bashcompinit', formatBash(completions)].join('\n');

function formatFish(completions: readonly Completion[]): string {
  const first = completions.map(({ command }) => command.split(' ')[0] as string);
  return completions.flatMap(({ command, flags }) => {
    const [word, second] = command.split(' ') as [string, string | undefined];
    const within = [word, second].filter((part) => part !== undefined).map((part) => `__fish_seen_subcommand_from ${part}`).join('; and ');
    return [
      `complete -c pintle -n 'not __fish_seen_subcommand_from ${first.join(' ')}' -a ${word}`,
      ...(second === undefined ? [] : [`complete -c pintle -n '__fish_seen_subcommand_from ${word}' -a ${second}`]),
      ...flags.map((flag) => `complete -c pintle -n '${within}' -l ${flag.slice(2)}`),
    ];
  }).join('\n');
}
