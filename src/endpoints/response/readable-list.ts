// Lists that people read: indented JSON, and YAML. They are made of the items of the plain JSON list one by one, since a whole list takes seconds.
import type { JsonValue } from '../../apimachinery/index.ts';
import { parseJson, stringifyJson, stringifyYaml } from '../../codec/index.ts';
import { encodeText, joinBytes } from './encoding.ts';
import type { ListBody } from './list-body.ts';
import { FORM_TYPES } from '../request/media.ts';

/** How a list is written: what stands around its items, and how one item looks. */
interface Layout {
  readonly head: string;
  readonly tail: string;
  readonly item: (item: JsonValue) => string;
}

const decoder = new TextDecoder();

/** The text before and after an empty list of this name. */
function splitAt(text: string, empty: string): readonly [string, string] {
  const at = text.lastIndexOf(empty);
  return [text.slice(0, at), text.slice(at + empty.length)];
}

function layOutJson(frame: JsonValue, name: string): Layout {
  const [before, after] = splitAt(stringifyJson(frame, 2), `"${name}": []`);
  return {
    head: `${before}"${name}": [`, tail: `\n  ]${after}`,
    // No text of JSON has a line end of its own.
    item: (item) => `,\n    ${stringifyJson(item, 2).replaceAll('\n', '\n    ')}`,
  };
}

function layOutYaml(frame: JsonValue, name: string): Layout {
  const [before, after] = splitAt(stringifyYaml(frame), `${name}: []\n`);
  return {
    head: `${before}${name}:\n`, tail: after,
    // The separator is a line end here, which the line before has already.
    item: (item) => `\n- ${stringifyYaml(item).replace(/\n(?=[^\n])/g, '\n  ')}`,
  };
}

function* encodeEach(pieces: ListBody['pieces'], item: Layout['item'], separator: number): ListBody['pieces'] {
  for (const piece of pieces) {
    if (piece === undefined) {
      yield;
      continue;
    }
    const items = parseJson(joinBytes([encodeText('['), piece.subarray(1), encodeText(']')])).value as JsonValue[];
    for (const each of items) {
      yield encodeText(item(each).slice(separator));
      yield;
    }
  }
}

/** The same list, which must not be empty, for people. */
export function makeReadable({ head, tail, pieces }: ListBody, form: 'json' | 'yaml'): ListBody {
  const start = decoder.decode(head);
  const name = start.endsWith('"rows":[') ? 'rows' : 'items';
  const frame = parseJson(encodeText(start + decoder.decode(tail))).value;
  const layout = form === 'json' ? layOutJson(frame, name) : layOutYaml(frame, name);
  return {
    contentType: FORM_TYPES[form], head: encodeText(layout.head), tail: encodeText(layout.tail), separatorBytes: form === 'json' ? 1 : 0,
    pieces: encodeEach(pieces, layout.item, form === 'json' ? 0 : 1),
  };
}
