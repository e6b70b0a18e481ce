// Patterns that can backtrack: every RegExp literal of src/ is tried by redos-detector, which follows the ways in which two parts of a pattern can
// match the same text. A pattern that it cannot prove safe is replaced by a scanner, or stands here with the reason why its text is bounded.
import { isSafe } from 'redos-detector';
import type { Source } from './sources.ts';

/** Ways to backtrack that a pattern may have, and steps of the search for them: counts, so that the outcome does not depend on the machine. */
const SEARCH = { maxScore: 10, maxSteps: 3000, timeout: Infinity };

/** Patterns that are not proved safe, and why each is. The list may only shrink. */
export const KNOWN_PATTERNS: readonly { readonly pattern: string; readonly within: string; readonly reason: string }[] = [
  { within: 'src/apimachinery/cel/',
    pattern: String.raw`/0x[0-9a-fA-F]+[uU]?|(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|[0-9]+[uU]?/y`,
    reason: 'each of four alternatives reads the digits of a token once' },
  { within: 'src/apimachinery/cel/', pattern: String.raw`/\.\d+Z$/`,
    reason: 'the text is a time of 24 characters that toISOString made' },
  { within: 'src/apimachinery/cel/', pattern: '/0+$/', reason: 'the text has nine digits' },
  { within: 'src/auth/', pattern: String.raw`/\s*(?:"((?:[^"]|"")*)"|([^",]*))\s*(,|$)/y`,
    reason: 'the file is the operator\'s' },
  { within: 'src/crd/', pattern: String.raw`/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"]+/g`,
    reason: 'the quotes of the text are balanced, so each part is read once' },
  { within: 'src/crd/', pattern: String.raw`/-----BEGIN CERTIFICATE-----\r?\n([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g`,
    reason: 'the run ends at a dash, so each character is read once for the BEGIN before it' },
  { within: 'src/endpoints/', pattern: String.raw`/\{([a-z]+)\}/g`,
    reason: 'the text is a route; a run ends at the next brace' },
  { within: 'src/resources/', pattern: String.raw`/\.values\[\d+\]$/`,
    reason: 'the text is a field path that validation made' },
  { within: 'src/resources/', pattern: String.raw`/^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/`,
    reason: 'the parts of a name are told apart by dot or slash; a part is read twice' },
  { within: 'src/resources/', pattern: String.raw`/iqn\.[0-9]{4}-[0-9]{2}\.[a-z0-9.-]+:[^,;*&$|\s]+$/i`,
    reason: 'the text has at most 1,024 characters' },
  { within: 'src/server/', pattern: String.raw`/\/+$/`,
    reason: 'the file is the operator\'s' },
  { within: 'src/server/', pattern: String.raw`/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g`,
    reason: 'the file is the operator\'s' },
  { within: 'src/server/', pattern: String.raw`/-----BEGIN ([A-Z ]+)-----[\s\S]+?-----END \1-----/g`,
    reason: 'the file is the operator\'s' },
  { within: 'src/storage/', pattern: String.raw`/:\d+$/`, reason: 'the text is a flag of the operator' },
];

const LITERAL = /(?:[=(,:?!&|[{;>]|return|\bcase)\s*(\/(?![*/ ])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*)(?=[\s.,;)\]:?]|$)/gm;
/** Without a quantifier that has no bound there is nothing to backtrack over at length. */
const UNBOUNDED = /[*+]|\{\d*,\}/;

/** The RegExp literals of a file, comments left out. */
export function findPatterns({ lines }: Pick<Source, 'lines'>): { readonly line: number; readonly literal: string }[] {
  return lines.flatMap((text, index) => {
    if (/^\s*(?:\/\/|\/?\*)/.test(text)) return [];
    return [...text.matchAll(LITERAL)].map((match) => ({ line: index + 1, literal: match[1] as string }));
  });
}

const known = new Map<string, boolean>();

/** Whether no text makes the pattern backtrack at length. A sticky pattern begins at one place, as an anchored one does. */
export function isSafePattern(literal: string): boolean {
  if (!UNBOUNDED.test(literal)) return true;
  let safe = known.get(literal);
  if (safe === undefined) known.set(literal, (safe = search(literal)));
  return safe;
}

function search(literal: string): boolean {
  const end = literal.lastIndexOf('/');
  const [source, flags] = [literal.slice(1, end), literal.slice(end + 1)];
  const pattern = flags.includes('y') ? new RegExp(`^(?:${source})`, flags.replace('y', '')) : new RegExp(source, flags);
  return isSafe(pattern, SEARCH).safe;
}

/** Complaints about the patterns of the files of src/, and exceptions that are not needed. */
export function checkPatterns(sources: readonly Source[]): string[] {
  const used = new Set<string>();
  const complaints = sources.filter(({ room, isTest, isData }) => room !== undefined && !isTest && !isData).flatMap((source) => findPatterns(source)
    .filter(({ literal }) => !isSafePattern(literal))
    .filter(({ literal }) => {
      const exception = KNOWN_PATTERNS.find(({ within, pattern }) => source.path.startsWith(within) && pattern === literal);
      if (exception !== undefined) used.add(`${exception.within} ${exception.pattern}`);
      return exception === undefined;
    })
    .map(({ line, literal }) => `${source.path}:${line}: ${literal} can backtrack`));
  const unneeded = KNOWN_PATTERNS.map(({ within, pattern }) => `${within} ${pattern}`).filter((name) => !used.has(name));
  return [...complaints, ...unneeded.map((name) => `${name} is listed and not needed`)];
}
