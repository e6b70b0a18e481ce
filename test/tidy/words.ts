// The words of comments, documents and titles of tests: plain present tense with a named subject. Words that leave the reader to guess are refused, each
// with the reason and what to say instead.
import type { Rule } from './rules.ts';
import type { Source } from './sources.ts';

/** A word or phrase that is not used, and what to write in its place. */
interface BannedWord {
  readonly pattern: RegExp;
  readonly instead: string;
}

const BANNED: readonly BannedWord[] = [
  { pattern: /\b(who|whoever|whom)\b/i, instead: 'name the subject: the caller, the client, a user, the code that …' },
  { pattern: /\b(nobody|somebody|no one|someone)\b/i, instead: 'name the subject: no client, another server, a user' },
  { pattern: /\b(judge[sd]?|judging|judge?ments?)\b/i, instead: 'validate, evaluate, check, decide' },
  { pattern: /\b(tell|tells|told|telling)\b/i, instead: 'report, say, return, announce; "unless a flag says otherwise"' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\blies\b/i, instead: 'is, stands, is stored' },
  { pattern: /\bgoes\b/i, instead: 'is removed, is sent, continues: the verb that it means' },
  { pattern: /(^|[.:;] |\*\* )What (is|was|are|were|has|does|comes|cannot|can)\b/, instead: 'begin with a named subject' },
];

const COMMENT = /(?:^|\s)(?:\/\/|\/\*\*?|\*)\s(.*)$/;
const TITLE = /^\s*(?:describe|it|test)\('([^']*(?:\\'[^']*)*)'/;

/** The prose of a file by line: comments and titles of tests of code, and documents without their code blocks. */
function* readProse({ path, lines }: Source): Generator<readonly [line: number, text: string]> {
  const isDocument = path.endsWith('.md');
  let isCode = false;
  for (const [index, line] of lines.entries()) {
    if (isDocument && line.trimStart().startsWith('```')) isCode = !isCode;
    const text = isDocument ? (isCode ? '' : line) : TITLE.exec(line)?.[1] ?? COMMENT.exec(line)?.[1] ?? '';
    if (text !== '') yield [index + 1, text.replace(/`[^`]*`|"[^"]*"/g, '')];
  }
}

/** Comments, documents and titles of tests use the field's words. */
export const checkWords: Rule = (source) => [...readProse(source)].flatMap(([line, text]) =>
  BANNED.filter(({ pattern }) => pattern.test(text)).map(({ pattern, instead }) =>
    `${source.path}:${line}: "${pattern.exec(text)?.[0].trim() ?? ''}" (${instead}) in: ${text.trim().slice(0, 100)}`));
