// Objects as the reference prints them when it compares them: by the Go structs it keeps them in, which name and order their members
// otherwise than the API does and print all of them.
//
// Notation: a line per struct, `Name: member; member`. A member is `Go`, or `Go=api` when the API's name is not the Go name with a small first
// letter; behind it stands the value that an absent one prints as (nothing: null), or its struct: `S` (always present), `*S`, `[]S`. `+S` are
// the members of S.
import { isJsonObject } from '../../../base/index.ts';
import { toList } from '../values.ts';

interface Member {
  readonly shown: string;
  readonly name: string;
  /** The value that an absent member prints as. */
  readonly zero: unknown;
  readonly struct: string | undefined;
  readonly holds: 'one' | 'maybe' | 'list';
}

/** Structs by name. */
export type GoStructs = ReadonlyMap<string, readonly Member[]>;

function readMember(text: string): Member {
  const [, shown = '', api, rest = ''] = /^(\w+)(?:=(\w+))?(?: (.*))?$/.exec(text) ?? [];
  const [, mark = '', struct] = /^(\*|\[\])?([A-Z]\w*)$/.exec(rest) ?? [];
  const zero = rest === '' || struct !== undefined ? null : JSON.parse(rest) as unknown;
  return { shown, name: api ?? shown.charAt(0).toLowerCase() + shown.slice(1), zero, struct, holds: mark === '' ? 'one' : mark === '*' ? 'maybe' : 'list' };
}

/** Reads structs in the notation above. */
export function readGoStructs(data: string): GoStructs {
  const lines = new Map(data.trim().split('\n').map((line) => {
    const [name = '', members = ''] = line.split(': ');
    return [name, members.split('; ')] as const;
  }));
  const membersOf = (name: string): readonly Member[] =>
    (lines.get(name) ?? []).flatMap((text) => (text.startsWith('+') ? membersOf(text.slice(1)) : [readMember(text)]));
  return new Map([...lines.keys()].map((name) => [name, membersOf(name)]));
}

/** Maps print by key. */
function sortTexts(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value);
  if (entries.some(([, inner]) => typeof inner !== 'string')) return value;
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A value in API form, in the form that the struct of that name prints. */
export function shapeGoStruct(structs: GoStructs, name: string, value: unknown): unknown {
  const given = (value ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries((structs.get(name) ?? []).map(({ shown, name: api, zero, struct, holds }) => {
    const own = Object.hasOwn(given, api) ? given[api] ?? undefined : undefined;
    if (struct === undefined) return [shown, own === undefined ? zero : sortTexts(own)];
    if (holds === 'list') return [shown, own === undefined ? null : toList(own).map((one) => shapeGoStruct(structs, struct, one))];
    return [shown, own === undefined && holds === 'maybe' ? null : shapeGoStruct(structs, struct, own)];
  }));
}
