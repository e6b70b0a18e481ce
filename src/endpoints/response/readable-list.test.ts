// Indented and YAML lists, item by item, against the encoding of the whole list.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseYaml } from '../../codec/index.ts';
import { encodeBody, encodeText } from './encoding.ts';
import { type ListBody, joinBody } from './list-body.ts';
import { makeReadable } from './readable-list.ts';

function plainList(items: readonly unknown[], name: string): ListBody {
  return {
    contentType: '', head: encodeText(`{"kind":"List","metadata":{"resourceVersion":"1"},"${name}":[`), tail: encodeText(']}\n'), separatorBytes: 1,
    chunks: items.flatMap((item, i) => [encodeText(`,${JSON.stringify(item)}`), ...(i % 3 === 0 ? [undefined] : [])]),
  };
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe('makeReadable', () => {
  for (const form of ['json', 'yaml'] as const) {
    it(`writes ${form} as it is written whole`, () => {
      const check = (items: readonly unknown[], name: string): void => {
        const whole = JSON.parse(text(joinBody(plainList(items, name)))) as unknown;
        assert.equal(text(joinBody(makeReadable(plainList(items, name), form))), text(encodeBody({ value: whole }, form, true)));
      };
      const long = `${'word '.repeat(60)}\nnext\n`;
      const script = { name: 'a', data: { 'run.sh': '#!/bin/sh\n\n  echo "a"\n\n', empty: '', lines: '\n\n', tab: '\tx\n', long } };
      check([script, { list: [], map: {}, nested: [[1, 'x\ny\n'], [{ a: null }]] }], 'items');
      check([{ cells: ['a', 1, null], object: { kind: 'PartialObjectMetadata' } }], 'rows');
      const lines = fc.array(fc.constantFrom('', 'a', ' b', '- c', '# d', '"e"', 'f: g', 'é', '\t'), { maxLength: 6 }).map((each) => each.join('\n'));
      const value = fc.dictionary(fc.constantFrom('a', 'b', 'c d', '1'), fc.oneof(lines, fc.integer(), fc.array(lines, { maxLength: 3 })));
      fc.assert(fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (items) => check(items, 'items')), { numRuns: 200 });
    });
  }

  it('writes an item of very many members as JSON, which is YAML', async () => {
    const data = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`k${i}`, 'a']));
    const body = text(joinBody(makeReadable(plainList([{ name: 'a' }, { data }, { name: 'b' }], 'items'), 'yaml')));
    const { value } = await parseYaml(encodeText(body));
    assert.deepEqual(value, { kind: 'List', metadata: { resourceVersion: '1' }, items: [{ name: 'a' }, { data }, { name: 'b' }] });
  });
});
