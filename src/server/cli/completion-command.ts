// `pintle completion`: scripts that let bash, zsh and fish complete commands and flags. They are made from the commands, so that a new flag is
// completed without further work. Where no flag fits, shells offer files.
import { StartError } from '../options/options.ts';
import { text } from '../options/schema.ts';
import { type Command, print } from './command.ts';

const schema = { shell: text({ flag: 'shell', help: 'bash, zsh or fish.' }) } as const;

/** A command, or a group of commands, and what may follow it. */
interface Completion {
  /** `storage check`, `storage`, or '' for the program alone. */
  readonly words: string;
  readonly next: readonly Offer[];
}

interface Offer {
  readonly text: string;
  readonly help: string;
}

/** The command that prints completions for the others. */
export function createCompletionCommand(commands: () => readonly Command[]): Command<typeof schema> {
  return {
    name: 'completion', summary: 'Print a completion script for a shell: bash, zsh or fish.', schema, argument: 'shell',
    async run({ settings: { shell } }) {
      const format = { bash: formatBash, zsh: formatZsh, fish: formatFish }[shell];
      if (format === undefined) throw new StartError('name a shell: pintle completion bash, zsh or fish');
      return print(format(listCompletions(commands())));
    },
  };
}

function listCompletions(commands: readonly Command[]): Completion[] {
  const firstWords = new Map(commands.map(({ name, summary }) => {
    const [first = '', second] = name.split(' ');
    return [first, second === undefined ? summary : `The commands of ${first}.`];
  }));
  const groups = [...firstWords.keys()].filter((word) => commands.some(({ name }) => name.startsWith(`${word} `)));
  return [
    // Without a command the program serves: the flags of that may follow too.
    { words: '', next: [...[...firstWords].map(([text, help]) => ({ text, help })), ...listFlags(commands[0])] },
    ...groups.map((group) => ({
      words: group,
      next: commands.filter(({ name }) => name.startsWith(`${group} `)).map(({ name, summary }) => ({ text: name.slice(group.length + 1), help: summary })),
    })),
    ...commands.map((command) => ({ words: command.name, next: listFlags(command) })),
  ];
}

function listFlags(command: Command | undefined): Offer[] {
  const options = Object.values(command?.schema ?? {}).flatMap(({ flag, help }) => (flag === undefined ? [] : [{ text: `--${flag}`, help }]));
  const others = [...command?.reference?.keys() ?? []].map((flag) => ({ text: `--${flag}`, help: 'A flag of kube-apiserver.' }));
  return [...options, ...others, { text: '--help', help: 'Print the flags.' }];
}

/** Lines of bash and zsh that find the command among the words before the cursor, and what may follow it. */
function findOffers(completions: readonly Completion[], before: string): string[] {
  const names = completions.filter(({ words }) => words !== '').map(({ words }) => `"${words}"`).join('|');
  return [
    '  local command="" word offers',
    `  for word in ${before}; do case "\${command:+$command }$word" in ${names}) command="\${command:+$command }$word" ;; esac; done`,
    '  case "$command" in',
    ...completions.map(({ words, next }) => `    "${words}") offers="${next.map(({ text: offer }) => offer).join(' ')}" ;;`),
    '  esac',
  ];
}

const formatBash = (completions: readonly Completion[]): string => [
  '_pintle() {', ...findOffers(completions, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"'),
  '  COMPREPLY=($(compgen -W "$offers" -- "${COMP_WORDS[COMP_CWORD]}"))', '}', 'complete -o default -F _pintle pintle',
].join('\n');

const formatZsh = (completions: readonly Completion[]): string => [
  '#compdef pintle', '_pintle() {', ...findOffers(completions, '"${(@)words[2,CURRENT-1]}"'),
  '  compadd -- ${=offers} || _files', '}', 'if [ "$funcstack[1]" = _pintle ]; then _pintle "$@"; else compdef _pintle pintle; fi',
].join('\n');

const quoteFish = (given: string): string => `'${given.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function formatFish(completions: readonly Completion[]): string {
  return completions.flatMap(({ words, next }) => {
    const [first, second] = words.split(' ') as [string, string | undefined];
    const others = completions.filter((one) => one.words.startsWith(`${first} `)).map((one) => one.words.split(' ')[1]);
    const condition = first === '' ? '__fish_use_subcommand'
      : second !== undefined ? `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`
        : others.length > 0 ? `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${others.join(' ')}` : `__fish_seen_subcommand_from ${first}`;
    return next.map(({ text: offer, help }) => {
      const what = offer.startsWith('--') ? `-l ${offer.slice(2)}` : `-f -a ${offer}`;
      return `complete -c pintle -n ${quoteFish(condition)} ${what} -d ${quoteFish(help)}`;
    });
  }).join('\n');
}
