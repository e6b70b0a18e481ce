// What `kubectl explain` says of types and fields: texts in a notation of a line for each, by the names of definitions.
//
//   package io.k8s.api.core.v1        the definitions that follow are of this package
//   PodSpec: What a pod runs.         a definition
//     nodeName: The node.             a field of it
//
// A definition named `*`, before all packages, has the fields that are described alike wherever nothing else is said.

/** The texts of a definition. */
export interface Description {
  /** The definition itself; empty when nothing is said of it. */
  readonly text: string;
  readonly fields: ReadonlyMap<string, string>;
}

/** Reads descriptions; each definition of each text is there by its full name, and `*` with the fields that all share. */
export function parseDescriptions(texts: readonly string[]): ReadonlyMap<string, Description> {
  const shared = new Map<string, string>();
  const found = new Map<string, { readonly text: string; readonly fields: Map<string, string> }>([['*', { text: '', fields: shared }]]);
  for (const text of texts) {
    let [prefix, fields] = ['', shared];
    for (const line of text.split('\n')) {
      if (line.trim() === '') continue;
      if (line.startsWith('package ')) {
        prefix = `${line.slice('package '.length)}.`;
        continue;
      }
      const end = line.indexOf(':');
      const [name, said] = [line.slice(0, end).trim(), line.slice(end + 1).trim()];
      if (line.startsWith(' ')) fields.set(name, said);
      else if (name === '*') fields = shared;
      else found.set(`${prefix}${name}`, { text: said, fields: fields = new Map(shared) });
    }
  }
  return found;
}
