// Transcripts: plain text with commands and what they must print. A block is `$ command`, further lines of the command after `> `, `----`, the output;
// `---- 1.27` begins an output that holds for that client version only. Prose lines begin with `#`. A blank line ends a block.
import { spawn } from 'node:child_process';

/** One command with its outputs; '' is the output that holds where no version has its own. */
interface Block {
  readonly type: 'command';
  readonly command: string;
  readonly outputs: Map<string, string>;
}

/** Lines of prose between commands. */
interface Prose {
  readonly type: 'prose';
  readonly text: string;
}

/** Reads a transcript. Throws on text that belongs to no block. */
export function parseTranscript(text: string): (Block | Prose)[] {
  const parts = text.trim().split(/\n\n(?=\$ |# )/);
  return parts.map((part) => (part.startsWith('$ ') ? parseBlock(part) : parseProse(part)));
}

function parseProse(text: string): Prose {
  if (!text.split('\n').every((line) => line.startsWith('#'))) throw new Error(`neither prose nor a command: ${text.slice(0, 80)}`);
  return { type: 'prose', text };
}

function parseBlock(part: string): Block {
  const [head = '', ...sections] = part.split(/^(?=----(?: \d[\d.]*)?$)/m);
  const outputs = new Map<string, string>();
  for (const section of sections) {
    const newline = section.indexOf('\n');
    const title = newline === -1 ? section : section.slice(0, newline);
    outputs.set(title.slice(4).trim(), newline === -1 ? '' : unescape(section.slice(newline + 1).trimEnd()));
  }
  const command = head.trimEnd().split('\n').map((line) => line.replace(/^[$>] ?/, '')).join('\n');
  return { type: 'command', command, outputs };
}

// A line of output that would read as the beginning of something gets a backslash.
const escape = (output: string): string => output.replace(/^(?=\\*(?:----|[$#] ))/gm, '\\');
const unescape = (output: string): string => output.replace(/^\\(?=\\*(?:----|[$#] ))/gm, '');

/** Writes a transcript: parseTranscript undone. */
export function formatTranscript(parts: readonly (Block | Prose)[]): string {
  return `${parts.map((part) => (part.type === 'prose' ? part.text : formatBlock(part))).join('\n\n')}\n`;
}

function formatBlock({ command, outputs }: Block): string {
  const head = command.split('\n').map((line, index) => `${index === 0 ? '$' : '>'} ${line}`.trimEnd());
  const sections = [...outputs].flatMap(([version, output]) => [`---- ${version}`.trimEnd(), ...(output === '' ? [] : [escape(output)])]);
  return [...head, ...sections].join('\n');
}

/** What a version of the client must print. */
export const expectedOutput = (block: Block, version: string): string => block.outputs.get(version) ?? block.outputs.get('') ?? '';

/** Accepts an output: as that of all versions where there is none, else as this version's own where it differs. */
export function acceptOutput(block: Block, version: string, options: { readonly output: string; readonly leads: boolean }): void {
  block.outputs.delete(version);
  if (options.leads) {
    block.outputs.delete('');
    const others = [...block.outputs].filter(([, output]) => output !== options.output);
    block.outputs.clear();
    for (const [name, output] of [['', options.output] as const, ...others]) block.outputs.set(name, output);
  } else if (block.outputs.get('') !== options.output) block.outputs.set(version, options.output);
}

const replacements: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC/g, '<date>'],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, '<date>'],
  [/(resource ?version"?: *"?)\d+/gi, '$1<rv>'],
  [/(https?:\/\/)?127\.0\.0\.1:\d+/g, '<server>'],
  [/(?:\/\S+)?\/(LIVE|MERGED)-\d+/g, '$1'],
  [/^((?:---|\+\+\+) \S+)\s.*$/gm, '$1'],
  [/\b10\.0\.0\.(?!1\b)\d+/g, '<ip>'],
  [/(?<=^|\s)(?:\d+[ydhms])+(?= ago\b|\s|$|\))/gm, '<age>'],
  [/(<(?:age|ip)>) {2,}/g, '$1   '],
  [/kube-api-access-\w{5}\b/g, 'kube-api-access-<random>'],
  [/X509SHA256=[0-9a-f]{64}/g, 'X509SHA256=<digest>'],
  [/kubectl-edit-\w+\.yaml/g, 'kubectl-edit-<n>.yaml'],
  [/\x1b\[[0-9;]*m/g, ''],
  [/[ \t]+$/gm, ''],
];

/** Takes out what differs from run to run: uids, times, ages, versions, ports, temporary names. */
function normalizeOutput(output: string): string {
  return replacements.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), output).trimEnd();
}

/** Runs one command in bash; answers stdout and stderr together, normalised, with the exit code when it is not 0. */
export function runCommand(command: string, options: { readonly folder: string; readonly env: Readonly<Record<string, string>> }): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', `exec 2>&1\n${command}`], { cwd: options.folder, env: options.env, stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 120_000 });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(`${normalizeOutput(output)}${code === 0 ? '' : `\n[exit ${code ?? signal}]`}`.replace(/^\n/, '')));
  });
}
