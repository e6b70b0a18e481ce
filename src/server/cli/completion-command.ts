// `pintle completion`: scripts that let bash, zsh and fish complete commands and flags. They are made from the commands, so that a new flag is
// completed without further work. Where no flag fits, and behind a flag that takes a value, shells offer files.
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
  /** Whether the next word is its value. */
  readonly takesValue?: boolean;
}

const shells = ['bash', 'zsh', 'fish'];

/** The command that prints completions for the others. */
export function createCompletionCommand(commands: () => readonly Command[]): Command<typeof schema> {
  return {
    name: 'completion', summary: 'Print a completion script for a shell: bash, zsh or fish.', schema, argument: 'shell', argumentValues: shells,
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
  const options = Object.values(command?.schema ?? {}).flatMap(({ flag, help, type }) =>
    (flag === undefined ? [] : [{ text: `--${flag}`, help, takesValue: type !== 'switch' }]));
  const values = (command?.argumentValues ?? []).map((text) => ({ text, help: '' }));
  const others = [...command?.reference?.keys() ?? []].map((flag) => ({ text: `--${flag}`, help: 'A flag of kube-apiserver.' }));
  return [...values, ...options, ...others, { text: '--help', help: 'Print the flags.' }];
}

/** Lines of bash and zsh that find the command among the words before the cursor, and what may follow it and the last of them. */
function findOffers(completions: readonly Completion[], { before, previous }: { readonly before: string; readonly previous: string }): string[] {
  const flags = new Set(completions.flatMap(({ next }) => next.filter(({ takesValue }) => takesValue === true).map(({ text: flag }) => flag)));
  const names = completions.filter(({ words }) => words !== '').map(({ words }) => `"${words}"`).join('|');
  return [
    '  local command="" word offers',
    `  for word in ${before}; do case "\${command:+$command }$word" in ${names}) command="\${command:+$command }$word" ;; esac; done`,
    '  case "$command" in',
    ...completions.map(({ words, next }) => `    "${words}") offers="${next.map(({ text: offer }) => offer).join(' ')}" ;;`),
    '  esac',
    `  case "${previous}" in =|${[...flags].join('|')}) offers="" ;; esac`,
  ];
}

const formatBash = (completions: readonly Completion[]): string => [
  '_pintle() {', ...findOffers(completions, { before: '"${COMP_WORDS[@]:1:COMP_CWORD-1}"', previous: '${COMP_WORDS[COMP_CWORD-1]}' }),
  '  COMPREPLY=($(compgen -W "$offers" -- "${COMP_WORDS[COMP_CWORD]}"))', '}', 'complete -o default -F _pintle pintle',
].join('\n');

const formatZsh = (completions: readonly Completion[]): string => [
  '#compdef pintle', '_pintle() {',
  '  if [[ "${words[CURRENT]}" == --*=* ]]; then compset -P "*="; _files; return; fi',
  ...findOffers(completions, { before: '"${(@)words[2,CURRENT-1]}"', previous: '${words[CURRENT-1]}' }),
  '  compadd -- ${=offers} || _files', '}', 'if [ "$funcstack[1]" = _pintle ]; then _pintle "$@"; else compdef _pintle pintle; fi',
].join('\n');

const quoteFish = (given: string): string => `'${given.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function formatFish(completions: readonly Completion[]): string {
  return completions.flatMap(({ words, next }) => {
    const [first, second] = words.split(' ') as [string, string | undefined];
    const others = completions.filter((one) => one.words.startsWith(`${first} `)).map((one) => one.words.split(' ')[1]);
    const seen = `__fish_seen_subcommand_from ${first}`;
    // `storage check` is not `check`.
    const groups = completions.filter((one) => second === undefined && one.words.endsWith(` ${first}`)).map((one) => one.words.split(' ')[0]);
    const without = others.length > 0 ? others : groups;
    const condition = first === '' ? '__fish_use_subcommand'
      : second !== undefined ? `${seen}; and __fish_seen_subcommand_from ${second}`
        : without.length > 0 ? `${seen}; and not __fish_seen_subcommand_from ${without.join(' ')}` : seen;
    return next.map(({ text: offer, help, takesValue }) => {
      const what = offer.startsWith('--') ? `${takesValue === true ? '-r ' : ''}-l ${offer.slice(2)}` : `-f -a ${offer}`;
      return `complete -c pintle -n ${quoteFish(condition)} ${what} -d ${quoteFish(help)}`;
    });
  }).join('\n');
}
