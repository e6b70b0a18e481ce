// The texts of `--help`, made from the commands and their schemas.
import type { Option } from '../options/schema.ts';
import type { Command } from './command.ts';

const WORDS_PER_LINE = 110;

/** The help of one command: its flags, and the flags of kube-apiserver that are accepted without effect or refused. */
export function formatCommandHelp({ name, summary, schema, argument, takesWords, takesFiles, notes = [], reference }: Command): string {
  const options = Object.values(schema).filter((option) => option.flag !== undefined);
  const flagsOf = (effect: 'warned' | 'refused'): string => (
    [...reference ?? []].filter(([, flag]) => flag.effect === effect).map(([flag]) => `--${flag}`).sort().join(', ')
  );
  const words = takesWords === true ? ' -- COMMAND…' : takesFiles === true ? ' [FILE…]' : '';
  const usage = `  pintle ${name}${argument === undefined ? '' : ` ${argument.toUpperCase()}`} [flags]${words}`;
  return [
    summary, '', 'Usage:', usage, '', 'Flags:', ...options.flatMap(formatOption), '  --help', '      Print this text.',
    ...(notes.length === 0 ? [] : ['', ...notes]),
    ...(reference === undefined ? [] : [
      '', 'Flags of kube-apiserver that have no meaning here; they are accepted with a warning:', ...wrap(flagsOf('warned')),
      '', 'Flags of kube-apiserver that are refused, because ignoring them would weaken the server or change what it serves:', ...wrap(flagsOf('refused')),
    ]), '',
  ].join('\n');
}

/** The help of a group of commands, such as `storage`. */
export function formatGroupHelp(commands: readonly Command[], group: string): string {
  const members = commands.filter(({ name }) => name.startsWith(`${group} `));
  return ['Commands:', ...members.map(formatSummary), '', '`pintle COMMAND --help` prints the flags of a command.', ''].join('\n');
}

const formatSummary = ({ name, summary }: Command): string => `  pintle ${name.padEnd(17)}${summary}`;

/** The help of the program: its commands, then the flags of the default one. */
export function formatHelp(commands: readonly Command[], [first]: readonly Command[] = commands): string {
  return [
    'pintle: the Kubernetes API without the cluster', '', 'Commands:', ...commands.map(formatSummary), '',
    '`pintle COMMAND --help` prints the flags of a command.', '', ...(first === undefined ? [] : [formatCommandHelp(first)]),
  ].join('\n');
}

function formatOption({ type, flag, short, flagDefault, default: fallback, help }: Option<unknown>): string[] {
  const value = type === 'switch' ? '' : ` ${type === 'words' ? 'list' : type}`;
  const shown = flagDefault ?? String(fallback);
  return [`  ${short === undefined ? '' : `-${short}, `}--${flag}${value}`, `      ${help}${shown === '' ? '' : ` (default ${shown})`}`];
}

function wrap(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    if ((lines.at(-1) as string).length + word.length > WORDS_PER_LINE) lines.push('');
    lines[lines.length - 1] += `${lines.at(-1) === '' ? '  ' : ' '}${word}`;
  }
  return lines;
}
