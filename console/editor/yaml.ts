// Objects as YAML text and back.
import { parseDocument, stringify } from 'yaml';

/** Text that is no YAML, and where. */
export interface YamlProblem {
  readonly message: string;
  /** Offsets of the text. */
  readonly from: number;
  readonly to: number;
}

/** The text of an object, in the order of its fields. */
export const formatYaml = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

/** Reads one document. */
export function parseYaml(text: string): { readonly value: unknown; readonly problems: readonly YamlProblem[] } {
  const document = parseDocument(text, { maxAliasCount: 0 } as object);
  const problems = document.errors.map(({ message, pos: [from, to] }) => ({ message: message.split('\n')[0] ?? message, from, to }));
  return { value: problems.length === 0 ? document.toJS({ maxAliasCount: 100 }) : undefined, problems };
}
