// Lists for people: indented JSON, and YAML. They are made from the plain JSON list item by item, since converting 10,000 objects takes seconds.
import type { JsonValue } from '../../apimachinery/index.ts';
import { parseJson, stringifyJson, stringifyYaml } from '../../codec/index.ts';
import { encodeText } from './encoding.ts';
import type { ListBody } from './list-body.ts';
import { formTypes } from '../request/media.ts';
import { hasManyMembers } from '../request/large-requests.ts';

/** The text around the items of a list, and the text of one item. */
interface Layout {
  readonly head: string;
  readonly tail: string;
  readonly item: (item: Uint8Array) => string;
}

const decoder = new TextDecoder();

/** The text before and after the empty list `empty`. */
function splitAt(text: string, empty: string): readonly [string, string] {
  const at = text.lastIndexOf(empty);
  return [text.slice(0, at), text.slice(at + empty.length)];
}

function layOutJson(frame: JsonValue, name: string): Layout {
  const [before, after] = splitAt(stringifyJson(frame, 2), `"${name}": []`);
  return {
    head: `${before}"${name}": [`, tail: `\n  ]${after}`,
    // Strings of JSON contain no line ends, so each line end is one of the layout.
    item: (item) => `,\n    ${stringifyJson(parseJson(item).value, 2).replaceAll('\n', '\n    ')}`,
  };
}

function layOutYaml(frame: JsonValue, name: string): Layout {
  const [before, after] = splitAt(stringifyYaml(frame), `${name}: []\n`);
  return {
    head: `${before}${name}:\n`, tail: after,
    // The separator is a line end, which the previous line has already.
    // Writing an item with very many members takes too long; JSON is YAML.
    item: (item) => `\n- ${hasManyMembers(item) ? `${decoder.decode(item)}\n` : stringifyYaml(parseJson(item).value).replace(/\n(?=[^\n])/g, '\n  ')}`,
  };
}

function* encodeEach(chunks: ListBody['chunks'], item: Layout['item'], separator: number): ListBody['chunks'] {
  for (const chunk of chunks) {
    if (chunk === undefined) {
      yield;
      continue;
    }
    yield encodeText(item(chunk.subarray(1)).slice(separator));
    yield;
  }
}

/** Converts a list that is not empty; each chunk is one item. */
export function makeReadable({ head, tail, chunks }: ListBody, form: 'json' | 'yaml'): ListBody {
  const start = decoder.decode(head);
  const name = start.endsWith('"rows":[') ? 'rows' : 'items';
  const frame = parseJson(encodeText(start + decoder.decode(tail))).value;
  const layout = form === 'json' ? layOutJson(frame, name) : layOutYaml(frame, name);
  return {
    contentType: formTypes[form], head: encodeText(layout.head), tail: encodeText(layout.tail), separatorBytes: form === 'json' ? 1 : 0,
    chunks: encodeEach(chunks, layout.item, form === 'json' ? 0 : 1),
  };
}
