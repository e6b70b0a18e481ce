// Files that are no configurations, and values of the wrong type.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigReader, parseConfigFile } from './config-file.ts';

const parse = (text: string) => parseConfigFile('--flag', text, { Configuration: ['example.com/v1'] });
const head = 'apiVersion: example.com/v1\nkind: Configuration\n';

test('parseConfigFile says why a file does not say which kind it holds', async () => {
  const cannot = "couldn't get version/kind; json parse error: json: cannot unmarshal";
  const faults: readonly (readonly [text: string, fault: string])[] = [
    ['', "Object 'Kind' is missing in the configuration"], ['null', "Object 'Kind' is missing in the configuration"],
    ['kind: Configuration', "Object 'apiVersion' is missing in the configuration"],
    [
      '- a', `${cannot} array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string `
        + '"json:\\"kind,omitempty\\"" }',
    ],
    ['apiVersion: example.com/v1\nkind: 5', `${cannot} number into Go struct field .kind of type string`],
    ['apiVersion: a/b/c\nkind: Configuration', 'unexpected GroupVersion string: a/b/c'],
    ['apiVersion: example.com/v1\nkind: Other', 'no kind "Other" is registered for version "example.com/v1": expected Configuration of example.com/v1'],
    [`${head}a: 1\nb: 2\na: 3\n`, 'strict decoding error: yaml: unmarshal errors: line 5: key "a" already set in map'],
    ['a: [', 'yaml: line 1: did not find expected node content'],
  ];
  for (const [text, fault] of faults) await assert.rejects(parse(text), { message: `--flag: ${fault}` });
});

test('ConfigReader reports the first value of a wrong type alone, before unknown fields and what is invalid', () => {
  const read = (file: Readonly<Record<string, unknown>>): string => {
    const reader = new ConfigReader('--flag');
    const { name, list, size } = reader.fields(file, '', ['name', 'list', 'size', 'time']);
    reader.requiredText(name, 'name');
    reader.list(list, 'list');
    reader.boolean(size, 'size', false);
    reader.duration(file['time'], 'time');
    reader.choice(file['name'], 'choice', ['a']);
    try {
      reader.finish();
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(read({ list: 'x', extra: 1 }), '--flag: list: Invalid value: "x": must be a list');
  assert.equal(read({ name: 5, list: 'x' }), '--flag: name: Invalid value: 5: must be a string');
  assert.equal(read({ extra: 1 }), '--flag: strict decoding error: unknown field "extra"');
  assert.equal(read({ name: 'a', time: 'x' }), '--flag: time: Invalid value: "x": time: invalid duration "x"');
  assert.equal(read({}), '--flag: [name: Required value, choice: Required value]');
});
