// The notation of schema data: one definition per line, small enough to load at every start and read line by line when first needed.
//
//   package io.k8s.api.core.v1
//   ContainerPort: name 1 string ?; hostPort 2 int32 ?; containerPort 3 int32 !; protocol 4 string ? ="TCP" go=v1.Protocol; hostIP 5 string ?
//
// A line is a name, words about the definition, a colon and its fields in Go's order, with `; ` between them. A field is its name, protobuf
// number, type and more words. Types: string int32 int64 double bool bytes, basic types (Time, Quantity …), definitions (`Name` in the same
// package, else `core.v1.Name`), `[]T` lists, `{}T` maps, `()T` lists that protobuf wraps in a message of their own.
// Words: a run of `!` required, `*` pointer, `?` left out when empty · `=JSON` the published default, `=-` that there is none (else the zero
// value of what is neither pointer nor left out) · list= keys= map= patch= merge= the merge rules · in=2:A.1:B the messages around the field
// in protobuf, which Go embeds · bare: OpenAPI v3 refers without allOf · kept: not left out when empty, which is refused · go= the named Go type ·
// enum=a|b the values that OpenAPI lists, with _ for spaces.
// Of definitions: typed (has kind and apiVersion), kinds=, format=, map=, unions=.

/** What one line says about a definition. */
export interface DefinitionText {
  readonly words: ReadonlyMap<string, string>;
  readonly fields: readonly FieldText[];
}

/** What a line says about one field. */
export interface FieldText {
  readonly name: string;
  readonly number: number;
  readonly type: string;
  readonly flags: string;
  readonly words: ReadonlyMap<string, string>;
}

/** Finds the definitions of a text without reading them: calls `found` with the full name and the line of each. */
export function scanDefinitions(text: string, found: (name: string, line: string) => void): void {
  let packageName = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const end = line.search(/[ :]|$/);
    const word = line.slice(0, end);
    if (word === 'package') packageName = line.slice(end + 1);
    else found(`${packageName}.${word}`, line);
  }
}

/** Reads the line of a definition. */
export function parseDefinition(line: string): DefinitionText {
  const colon = findColon(line);
  const fields = line.slice(colon + 2).split('; ').filter((text) => text !== '');
  return { words: parseWords(line.slice(0, colon).split(' '), 1), fields: fields.map(parseField) };
}

/** Reads the `kinds=` of a line alone: `group/version/Kind` each. */
export function scanKinds(line: string): readonly string[] {
  const start = line.indexOf(' kinds=');
  if (start < 0) return [];
  const end = line.slice(start + 7).search(/[ :]|$/);
  return line.slice(start + 7, start + 7 + end).split(',');
}

/** A colon that ends the head stands before a space or at the end of the line; those inside of words never do. */
function findColon(line: string): number {
  const colon = line.indexOf(': ');
  if (colon >= 0) return colon;
  return line.endsWith(':') ? line.length - 1 : line.length;
}

function parseField(text: string): FieldText {
  const words = text.split(' ');
  const flags = words[3] !== undefined && /^[!*?]/.test(words[3]) ? words[3] : '';
  return { name: words[0]!, number: Number(words[1]), type: words[2]!, flags, words: parseWords(words, flags === '' ? 3 : 4) };
}

function parseWords(words: readonly string[], from: number): Map<string, string> {
  const parsed = new Map<string, string>();
  for (let i = from; i < words.length; i++) {
    const word = words[i]!;
    const equals = word.indexOf('=');
    parsed.set(equals < 0 ? word : word.slice(0, equals), equals < 0 ? '' : word.slice(equals + 1));
  }
  return parsed;
}
