// Lists in CBOR: a map whose last entry is the array of items, so that the items follow its head one by one. Each item is encoded as it is sent.
import { encodeCbor, encodeCborHead, encodeCborItem } from '../../codec/index.ts';
import { joinBytes } from './encoding.ts';
import type { ListBody } from './list-body.ts';
import { formTypes } from '../request/media.ts';

/** A list that begins with the members of `start` and ends with `count` items in CBOR; null writes no list at all. */
export function cborList(start: Readonly<Record<string, unknown>>, count: number | null, chunks: ListBody['chunks']): ListBody {
  const members = Object.entries(start).flatMap(([key, value]) => [encodeCborItem(key), encodeCborItem(value)]);
  const head = [
    encodeCbor({}).slice(0, -1), encodeCborHead('map', members.length / 2 + 1), ...members, encodeCborItem('items'),
    count === null ? encodeCborItem(null) : encodeCborHead('array', count),
  ];
  return { contentType: formTypes.cbor, head: joinBytes(head), tail: new Uint8Array(0), separatorBytes: 0, chunks };
}
