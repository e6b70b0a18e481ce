// docs/flags.md: every flag of kube-apiserver and the server's own, as the command line knows them.
import { readFileSync } from 'node:fs';
import { serveCommand } from '../src/server/cli/serve.ts';
import type { ReferenceFlag } from '../src/server/options/reference-flags.ts';
import type { Option } from '../src/server/options/schema.ts';

const LIST = new URL('../../test/data/kube-apiserver-flags.txt', import.meta.url);
/** The flags of kube-apiserver 1.36, as its --help lists them. */
export const kubeApiserverFlags: readonly string[] = readFileSync(LIST, 'utf8').trim().split('\n');

const { schema, reference = new Map<string, ReferenceFlag>() } = serveCommand;
const options = new Map<string, Option<unknown>>(Object.values(schema as Readonly<Record<string, Option<unknown>>>).flatMap((option) =>
  (option.flag === undefined ? [] : [[option.flag, option] as const])));
/** Flags of every command. */
const COMMON: ReadonlyMap<string, string> = new Map([['help', 'Print the flags.'], ['version', 'Print the version.']]);

/** What becomes of a flag: `missing` where nothing is said of it. */
export function judgeFlag(name: string): 'works' | 'refused' | 'warns' | 'missing' {
  if (options.has(name) || COMMON.has(name)) return 'works';
  const effect = reference.get(name)?.effect;
  return effect === undefined ? 'missing' : effect === 'warned' ? 'warns' : 'refused';
}

function describeFlag(name: string): string {
  const option = options.get(name);
  if (option !== undefined) {
    const shown = option.flagDefault ?? String(option.default);
    return `${option.help}${shown === '' ? '' : ` Default: \`${shown}\`.`}`;
  }
  const { effect, accepts = [] } = reference.get(name) ?? {};
  if (effect === 'warned') return 'Has no meaning here.';
  return COMMON.get(name) ?? `Not supported${accepts.length === 0 ? '' : `; only ${accepts.map((value) => `\`${value}\``).join(' or ')} is`}.`;
}

const formatRow = (name: string): string => `| \`--${name}\` | ${judgeFlag(name)} | ${describeFlag(name).replaceAll('|', '\\|')} |`;
const HEAD = ['| flag | here | what to know |', '|---|---|---|'];

/** The whole document. */
export function formatFlagTable(): string {
  const others = [...new Set([...options.keys(), ...reference.keys()])].filter((name) => !kubeApiserverFlags.includes(name)).sort();
  const count = (sort: string): number => kubeApiserverFlags.filter((name) => judgeFlag(name) === sort).length;
  return [
    '# Flags', '',
    'Made from the code by `npm run generate:flags`; a test compares it with the code and with the list of kube-apiserver.', '',
    `Of the ${kubeApiserverFlags.length} flags of kube-apiserver 1.36, ${count('works')} work, ${count('refused')} are refused, because ignoring them would weaken the server or change `
    + `what it serves, and ${count('warns')} warn, because they have no meaning here.`, '',
    '## Flags of kube-apiserver', '', ...HEAD, ...kubeApiserverFlags.map(formatRow), '',
    '## Flags of this server, and of older kube-apiservers', '', ...HEAD, ...others.map(formatRow), '',
  ].join('\n');
}
