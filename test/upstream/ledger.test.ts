// How runs of upstream's tests are read and compared with the ledger.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readCommandOutcomes } from './cmd.ts';
import { compare, readLedger, readOutcomes } from './ledger.ts';

test('readOutcomes reads the tests of a package, and notices those that a panic left out', () => {
  const output = '=== RUN   TestA\n    --- PASS: TestA/sub (0.00s)\n--- PASS: TestA (0.01s)\n--- FAIL: TestB (1.00s)\npanic: x\n';
  assert.deepEqual([...readOutcomes(output, ['TestA', 'TestB', 'TestC'])], [['TestA', 'PASS'], ['TestB', 'FAIL'], ['TestC', 'missing']]);
});

test('compare is surprised by failures without a cause and by causes that are gone', () => {
  const outcomes = readOutcomes('--- PASS: TestA (0s)\n--- FAIL: TestB (0s)\n--- FAIL: TestC (0s)\n--- FAIL: TestD (0s)\n--- SKIP: TestE (0s)\n',
    ['TestA', 'TestB', 'TestC', 'TestD', 'TestE', 'TestF']);
  assert.deepEqual(compare(outcomes, { reference: ['TestD'], fails: { TestA: 'was so', TestB: 'not built' } }), {
    passed: 1, expected: 4, surprises: ['TestA passes, and the ledger has: was so', 'TestC fails', 'TestF did not run to its end'],
  });
});

test('readLedger has the causes of older releases of Node for them alone', () => {
  const file = fileURLToPath(new URL('../../../test/upstream/ledger.json', import.meta.url));
  const failsWith = (node: string): string[] => Object.keys(readLedger(file, node)['tls']?.fails ?? {});
  assert.deepEqual([failsWith('22.19.0'), failsWith('24.1.0')], [['TestAPICurvePreferences'], []]);
});

test('readCommandOutcomes reads the tests of kubectl, and notices the one in which they stopped', () => {
  const start = 'Recording: record_command_canary\nError when running record_command_canary\nRecording: run_pod_tests\nRecording: run_swagger_tests\n';
  const failed = 'Error when running run_swagger_tests\n';
  assert.deepEqual([...readCommandOutcomes(`${start}${failed}FAILED TESTS: run_swagger_tests, \n`)], [['pod', 'PASS'], ['swagger', 'FAIL']]);
  assert.deepEqual([...readCommandOutcomes(`${start}Clean up complete\n`)], [['pod', 'PASS'], ['swagger', 'missing']]);
});
