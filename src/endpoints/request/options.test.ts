// Options of the query: how they are read, and the texts of invalid ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../../apimachinery/index.ts';
import {
  defaultListQuery, parseDeleteQuery, parseListQuery, parseWriteQuery, validateDeleteOptions, validateListQuery, validateWriteQuery, validationLevel,
} from './options.ts';

/** The code and message of the StatusError that `run` throws, '' for none. */
function refusal(run: () => unknown): string {
  try {
    run();
    return '';
  } catch (error) {
    assert.ok(error instanceof StatusError);
    return `${error.code} ${error.message}`;
  }
}

const query = (text: string): URLSearchParams => new URLSearchParams(text);

test('parseListQuery reads numbers and booleans as Go does', () => {
  const read = (text: string) => parseListQuery(query(text));
  assert.deepEqual([read('limit=5').limit, read('limit=-1').limit, read('').limit, read('timeoutSeconds=%2B7').timeoutSeconds], [5, -1, 0, 7]);
  assert.deepEqual(['watch', 'watch=', 'watch=1', 'watch=yes', 'watch=0', 'watch=False', ''].map((text) => read(text).watch),
    [true, true, true, true, false, false, false]);
  assert.equal(read('').sendInitialEvents, undefined);
  for (const [text, message] of [
    ['limit=', 'parsing "": invalid syntax'], ['limit=1.5', 'parsing "1.5": invalid syntax'],
    ['timeoutSeconds=9223372036854775808', 'parsing "9223372036854775808": value out of range'],
  ] as const) assert.equal(refusal(() => read(text)), `400 strconv.ParseInt: ${message}`);
});

test('defaultListQuery asks for initial events where a watch starts from "" or "0"', () => {
  const asked = (text: string): unknown => defaultListQuery(parseListQuery(query(text))).sendInitialEvents;
  assert.deepEqual(['watch=1', 'watch=1&resourceVersion=0'].map(asked), [true, true]);
  assert.deepEqual(['', 'watch=1&resourceVersion=5', 'watch=1&resourceVersionMatch=Exact'].map(asked), [undefined, undefined, undefined]);
  assert.equal(asked('watch=1&sendInitialEvents=false'), false);
});

test('validateListQuery refuses options that contradict each other', () => {
  const prefix = '422 ListOptions.meta.k8s.io "" is invalid: ';
  for (const [text, message] of [
    ['', ''], ['resourceVersionMatch=Exact&resourceVersion=5', ''], ['watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan', ''],
    ['resourceVersionMatch=Exact&resourceVersion=0', `${prefix}resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`],
    ['resourceVersionMatch=NotOlderThan', `${prefix}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`],
    ['sendInitialEvents=1', `${prefix}sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`],
    ['watch=1&resourceVersionMatch=NotOlderThan',
      `${prefix}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`],
    ['watch=1&sendInitialEvents=1', `${prefix}resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`],
  ] as const) assert.equal(refusal(() => validateListQuery(parseListQuery(query(text)))), message, text);
});

test('validateWriteQuery refuses managers, dry runs and levels that upstream refuses', () => {
  const prefix = '422 CreateOptions.meta.k8s.io "" is invalid: ';
  for (const [text, message] of [
    ['', ''], ['dryRun=All&fieldManager=me&fieldValidation=Strict', ''],
    [`fieldManager=${'é'.repeat(65)}`, `${prefix}fieldManager: Too long: may not be more than 128 bytes`],
    ['fieldManager=%C3%A9%07', `${prefix}fieldManager: Invalid value: "é\\a": invalid character U+0007 (at position 2)`],
    ['dryRun=All&dryRun=No', `${prefix}dryRun: Unsupported value: ["All","No"]: supported values: "All"`],
    ['fieldValidation=x', `${prefix}fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"`],
  ] as const) assert.equal(refusal(() => validateWriteQuery('CreateOptions', parseWriteQuery(query(text)))), message, text);
});

test('validationLevel is Warn by default', () => {
  assert.deepEqual(['', 'fieldValidation=Ignore'].map((text) => validationLevel(parseWriteQuery(query(text)))), ['Warn', 'Ignore']);
});

test('parseDeleteQuery reads only the options that are given', () => {
  assert.deepEqual(parseDeleteQuery(query('')), { dryRun: [] });
  assert.deepEqual(parseDeleteQuery(query('gracePeriodSeconds=0&orphanDependents=false&propagationPolicy=Orphan&uid=u&dryRun=All')), {
    dryRun: ['All'], gracePeriodSeconds: 0, orphanDependents: false, propagationPolicy: 'Orphan', preconditions: { uid: 'u' },
  });
  assert.deepEqual(parseDeleteQuery(query('uid=&resourceVersion=7')), { dryRun: [], preconditions: { resourceVersion: '7' } });
  assert.deepEqual(parseDeleteQuery(query('uid=&resourceVersion=')), { dryRun: [] });
});

test('validateDeleteOptions refuses options that need an unreadable object to be read', () => {
  const unsafe = { dryRun: [], ignoreStoreReadErrorWithClusterBreakingPotential: true };
  assert.equal(refusal(() => validateDeleteOptions(unsafe)), '');
  assert.match(refusal(() => validateDeleteOptions({ ...unsafe, dryRun: ['All'], gracePeriodSeconds: 1 })),
    /cannot be set together with \.dryRun, .*cannot be set together with \.gracePeriodSeconds/);
});
