// Holds the house in order: imports, doors, sizes, openings, words. A rule that hurts is changed here, in the open.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Rule, checkArrows, checkConstants, checkExports, checkLeftovers, checkMachines, checkMeasuredTime, checkOpening, checkOutside, checkSizes,
  checkTimeAndChance, findModuleState,
} from './tidy/rules.ts';
import { type Source, readSources } from './tidy/sources.ts';
import { checkPatterns, findPatterns, isSafePattern } from './tidy/patterns.ts';
import { findCircles, findLargeFolders } from './tidy/structure.ts';
import { checkWords } from './tidy/words.ts';

/** Files that break a rule for a reason. The list may only shrink: an exception that is not needed fails the test. */
const EXCEPTIONS: readonly { readonly rule: Rule; readonly path: string; readonly reason: string }[] = [
  { rule: checkMeasuredTime, path: 'src/testing/faults/fault-api.test.ts', reason: 'a delay that was asked for lasts at least as long, on any machine' },
];

/** The variables of modules, each with what it spares or why it belongs to the process. */
const MODULE_STATE: Readonly<Record<string, string>> = {
  'src/apimachinery/schema/validate/pattern.ts engine': 'loaded by the first pattern, used by synchronous code',
  'src/base/collections/sorted-map.ts lastOwner': 'a counter',
  'src/base/resumable.ts current': 'set during one call, within one turn',
  'src/base/time/time-limit.ts limit': 'set during one call, within one turn',
  'src/base/time/time-text.ts last': '0.35 µs for each time that is written',
  'src/codec/protobuf/message.ts borrowed': '0.5 µs and 16 KB for each message that is written',
  'src/codec/protobuf/time.ts lastParsed': '0.3 µs for each time that is read',
  'src/registry/conversion/restartable-conversion.ts answers': 'set during one call, within one turn',
  'src/server/cli/command-line.ts loadPrograms': 'set once, by the program; the server does not import the testing room',
  'src/server/metrics/process-metrics.ts lastUtilization': 'of the event loop, which is one in the process',
};

const { code, texts } = readSources();

function hold(name: string, rule: Rule, sources: readonly Source[]): void {
  test(name, () => {
    const excepted = new Set(EXCEPTIONS.filter((exception) => exception.rule === rule).map(({ path }) => path));
    const complaints = sources.flatMap((source) => (excepted.has(source.path) ? [] : rule(source)));
    assert.equal(complaints.length, 0, `\n${complaints.join('\n')}\n`);
    const unneeded = [...excepted].filter((path) => !sources.some((source) => source.path === path && rule(source).length > 0));
    assert.deepEqual(unneeded, [], 'exceptions that are not needed');
  });
}

test('readSources finds the house', () => {
  assert.ok(code.some(({ path }) => path === 'src/base/index.ts'));
  assert.ok(code.filter(({ imports }) => imports.length > 0).length > 50);
});

hold('checkArrows: rooms import each other along the arrows, through doors', checkArrows, code);
hold('checkOutside: packages and node: modules stay where they belong', checkOutside, code);
hold('checkTimeAndChance: only Clock and Random read the time and make random numbers', checkTimeAndChance, code);
hold('checkExports: exports are named', checkExports, code);
hold('checkOpening: every file opens with a comment', checkOpening, code);
hold('checkSizes: files of 500 lines, functions of 70, lines of 160 columns at most', checkSizes, code);
hold('checkConstants: numbers, texts and flags of a module are UPPER_CASE, all else camelCase', checkConstants, code);
hold('checkMeasuredTime: tests of the quick suite compare no measured time', checkMeasuredTime,
  code.filter(({ path }) => !/^test\/(faults|clients|attacks|console)\//.test(path)));
hold('checkLeftovers: no notes to ourselves', checkLeftovers, code);
hold('checkMachines: no machine paths, no private registries', checkMachines, texts);

hold('checkWords: comments and documents use plain words with a named subject', checkWords,
  texts.filter(({ path }) => /\.(tsx?|md)$/.test(path) && !path.startsWith('test/tidy/')));

test('findModuleState: modules keep no variables but those listed with a reason', () => {
  assert.deepEqual(findModuleState(code).sort(), Object.keys(MODULE_STATE).sort());
});

test('findCircles: no file is in a loop of imports', () => {
  assert.deepEqual(findCircles(code).map((files) => files.join(' ')), []);
});

test('findLargeFolders: a folder of src/ and console/ has at most 15 source files', () => {
  assert.deepEqual(findLargeFolders(code), []);
});

test('checkPatterns: no pattern of src/ and console/ can backtrack at length over text of a client', () => {
  assert.deepEqual(checkPatterns(code), []);
});

test('isSafePattern refuses nested and neighbouring runs, and takes what reads each character once', () => {
  for (const literal of ['/(a+)+$/', '/^0*\\d*x$/', '/^(a|aa)+$/', '/x+$/', '/^\\s*(.+?)\\s*$/']) assert.equal(isSafePattern(literal), false, literal);
  for (const literal of ['/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/', '/0*/y', '/^a*b*$/', '/[<>&]/g']) assert.equal(isSafePattern(literal), true, literal);
  assert.deepEqual(findPatterns({ lines: ['const a = /x+/g;', '// not /this/', "f(b / c, '/d/');", 'if (/^[/]$/.test(e)) {'] }),
    [{ line: 1, literal: '/x+/g' }, { line: 4, literal: '/^[/]$/' }]);
});
