// Objects as YAML text and back.
import { parseAllDocuments, parseDocument, stringify } from 'yaml';

/** Text that is no YAML, and where. */
export interface YamlProblem {
  readonly message: string;
  /** Offsets of the text. */
  readonly from: number;
  readonly to: number;
}

/** The text of an object, in the order of its fields. Servers read YAML 1.1: words such as no and on are quoted where they are texts. */
export const formatYaml = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });

/** Aliases that a text may expand to. */
const ALIASES = 100;

/** Reads one document. */
export function parseYaml(text: string): { readonly value: unknown; readonly problems: readonly YamlProblem[] } {
  const document = parseDocument(text);
  const problems = document.errors.map(({ message, pos: [from, to] }) => ({ message: message.split('\n')[0] ?? message, from, to }));
  return { value: problems.length === 0 ? document.toJS({ maxAliasCount: ALIASES }) : undefined, problems };
}

/** Reads each document of a text that is not empty; throws an Error that names the first problem. */
export function parseAllYaml(text: string): unknown[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Error(problem.message.split('\n')[0]);
    const value = document.toJS({ maxAliasCount: ALIASES }) as unknown;
    return value === null ? [] : [value];
  });
}
