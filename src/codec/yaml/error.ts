// The reference's texts for YAML that cannot be read, made from the codes of the `yaml` package. go-yaml counts lines from one in errors of its
// scanner, from zero in those of its parser, and prints no line for the first one (number zero).
import type { YAMLError } from 'yaml';

/** A YAML text that cannot be read; the message is the reference's as far as it can be known. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

/** The text of the error about a tab where a plain text would continue. */
export const TAB_INDENT = 'found a tab character that violates indentation';

interface Problem {
  readonly by: 'scanner' | 'parser';
  readonly text: string;
}

const scanner = (text: string): Problem => ({ by: 'scanner', text });
const parser = (text: string): Problem => ({ by: 'parser', text });

const cannotStart = scanner('found character that cannot start any token');
const noMapping = scanner('mapping values are not allowed in this context');
const noContent = parser('did not find expected node content');
const noKey = parser('did not find expected key');

/** Words a syntax error as the reference would; `lineAt` counts from one. */
export function explainSyntax(error: YAMLError, text: string, lineAt: (offset: number) => number): YamlError {
  const { by, text: problem } = findProblem(error, text);
  const line = lineAt(error.pos[0] + (error.code === 'BLOCK_AS_IMPLICIT_KEY' ? Math.max(0, text.slice(error.pos[0]).search(/:(?:\s|$)/)) : 0));
  const isEnd = by === 'parser' && atEnd(error, text);
  const shown = by === 'scanner' ? line : isEnd ? countLines(text) : line - 1;
  const where = (isEnd || line > 1) && shown > 0 ? `line ${shown}: ` : '';
  return new YamlError(`yaml: ${where}${problem}`);
}

/** The parser notices a missing end only at the token behind, often the end of the text. */
const atEnd = (error: YAMLError, text: string): boolean => text.slice(error.pos[0]).trim() === '';

/** The number of lines; the last one needs no break. */
function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

function findProblem(error: YAMLError, text: string): Problem {
  const message = error.message;
  switch (error.code) {
    case 'TAB_AS_INDENT': return followsPlain(text.slice(0, error.pos[0])) ? scanner(TAB_INDENT) : cannotStart;
    case 'BAD_SCALAR_START': return cannotStart;
    case 'BLOCK_AS_IMPLICIT_KEY': return noMapping;
    case 'BAD_INDENT': return explainIndent(message, text.slice(0, error.pos[0]));
    case 'MULTILINE_IMPLICIT_KEY': case 'KEY_OVER_1024_CHARS': return scanner("could not find expected ':'");
    case 'BAD_DQ_ESCAPE': return scanner('found unknown escape character');
    case 'MISSING_CHAR': return findMissing(message, { before: text.slice(0, error.pos[0]), rest: text.slice(error.pos[0]) });
    case 'BAD_ALIAS': return scanner('did not find expected alphabetic or numeric character');
    case 'BLOCK_IN_FLOW': return noContent;
    case 'BAD_DIRECTIVE': return scanner('found unknown directive name');
    default: return findUnexpected(message, text.slice(error.pos[0], error.pos[1]));
  }
}

/** Whether the line before ends with a plain text, which would go on in the next one. */
function followsPlain(before: string): boolean {
  const text = before.trimEnd();
  const line = text.slice(text.lastIndexOf('\n') + 1);
  const comment = line.search(/(?:^|\s)#/);
  return /[^\s:\-?"'\]}|>]$/.test((comment < 0 ? line : line.slice(0, comment)).trimEnd());
}

function explainIndent(message: string, before: string): Problem {
  const close = message.startsWith('Flow sequence') ? ']' : message.startsWith('Flow map') ? '}' : '';
  if (close !== '') return /[[{,]$/.test(before.slice(-100).trimEnd()) ? noContent : parser(`did not find expected ',' or '${close}'`);
  return message.includes('sequence') ? parser("did not find expected '-' indicator") : noKey;
}

function findMissing(message: string, { before, rest }: { readonly before: string; readonly rest: string }): Problem {
  if (message.includes('quote')) return scanner('found unexpected end of stream');
  const close = /flow sequence/i.test(message) ? ']' : /flow map/i.test(message) ? '}' : '';
  if (close !== '') return rest.trim() === '' && /[[{,]$/.test(before.slice(-100).trimEnd()) ? noContent : parser(`did not find expected ',' or '${close}'`);
  return scanner("could not find expected ':'");
}

function findUnexpected(message: string, token: string): Problem {
  if (message.includes('flow sequence')) return parser("did not find expected ',' or ']'");
  if (message.includes('flow map')) return parser("did not find expected ',' or '}'");
  if (/^[@`%\t]/.test(token)) return cannotStart;
  if (/^[\]}]/.test(token)) return noContent;
  if (message.startsWith('Block scalar')) return scanner('did not find expected comment or line break');
  if (message.includes('document') || message.includes('stream')) return parser('did not find expected <document start>');
  return noKey;
}
