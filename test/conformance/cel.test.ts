// The CEL specification's own cases against this engine. A ledger says how many cases of a section fail, and why; more is a failure, and so is less.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadPatternEngine } from '../../src/apimachinery/index.ts';
import { type CheckedExpr, checkExpression } from '../../src/apimachinery/cel/check/check.ts';
import {
  type Environment, type Library, createEnvironment, declare, extendEnvironment, method, overload,
} from '../../src/apimachinery/cel/check/environment.ts';
import { compileProgram } from '../../src/apimachinery/cel/evaluate/evaluate.ts';
import { comprehensionsLibrary } from '../../src/apimachinery/cel/library/comprehensions.ts';
import { setsLibrary } from '../../src/apimachinery/cel/library/lists.ts';
import { optionalLibrary } from '../../src/apimachinery/cel/library/optional.ts';
import { standardLibrary } from '../../src/apimachinery/cel/library/standard.ts';
import { stringsLibrary } from '../../src/apimachinery/cel/library/strings.ts';
import { parseExpression } from '../../src/apimachinery/cel/parse/parse.ts';
import { CelSyntaxError } from '../../src/apimachinery/cel/parse/source.ts';
import { boolType, bytesType, doubleType, formatType, intType, nullType, stringType, uintType } from '../../src/apimachinery/cel/values/types.ts';
import { Failure } from '../../src/apimachinery/cel/values/values.ts';
import { type CelCase, casesOf, showValue, typeFrom, valueFrom } from './cel-cases.ts';
import { ledger } from './cel-ledger.ts';

/** `reverse` of strings, which Kubernetes' version of the extension does not have. */
const reverseLibrary: Library = {
  functions: [declare('reverse', method('string_reverse', [stringType], [stringType, (value: string) => Array.from(value).reverse().join('')]))],
};
const base = createEnvironment({
  libraries: [standardLibrary, stringsLibrary, reverseLibrary, optionalLibrary, comprehensionsLibrary, setsLibrary], optionalSyntax: true, escapedNames: true,
});
/** Variables and functions that the recording of the checker declares for all of its cases. */
const checkerEnvironment = extendEnvironment(createEnvironment({
  libraries: [standardLibrary, optionalLibrary, {
    functions: [declare('fg_s', overload('fg_s_0', [], [stringType, () => ''])), declare('fi_s_s', method('fi_s_s_0', [stringType], [stringType, () => '']))],
  }],
  optionalSyntax: true, escapedNames: true,
}), {
  variables: new Map([['is', stringType], ['ii', intType], ['iu', uintType], ['iz', boolType], ['ib', bytesType], ['id', doubleType], ['ix', nullType]]),
});
/** Suites of the package that give texts of errors and types, but no values. */
const checkedOnly = new Set(['parsing', 'checking']);

function environmentOf({ original, section }: CelCase): Environment {
  const declared = (original.typeEnv ?? []).filter((entry) => entry.ident !== undefined);
  const variables = new Map(declared.map((entry) => [entry.name, typeFrom(entry.ident!.type)]));
  return extendEnvironment(section === 'checking' ? checkerEnvironment : base, { container: original.container ?? '', variables });
}

/** Reports why a case fails; undefined where it passes. */
function problemOf(item: CelCase): string | undefined {
  const env = environmentOf(item);
  const { original } = item;
  try {
    const parsed = parseExpression(original.expr, env);
    const compiled = original.disableCheck === true ? parsed : checkExpression(parsed, env);
    return judgeType(item, compiled) ?? judgeValue(item, () => compileProgram(compiled, env));
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error;
    if (item.error === undefined) return original.evalError === undefined ? error.message : undefined;
    const wanted = item.error.replaceAll('ERROR: :', 'ERROR: <input>:');
    return wanted === error.message ? undefined : `got ${error.message}, wanted ${wanted}`;
  }
}

function judgeType(item: CelCase, compiled: object): string | undefined {
  if (item.type === undefined || !('resultType' in compiled)) return undefined;
  const found = formatType((compiled as CheckedExpr).resultType);
  return found === item.type ? undefined : `type ${found} instead of ${item.type}`;
}

function judgeValue(item: CelCase, compile: () => ReturnType<typeof compileProgram>): string | undefined {
  const { original } = item;
  if (checkedOnly.has(item.section)) return item.error === undefined ? undefined : `no error, wanted ${item.error}`;
  if (original.checkOnly === true) return undefined;
  const bindings = new Map(Object.entries(original.bindings ?? {}).map(([name, given]) => [name,
    given.value === undefined ? undefined : valueFrom(given.value)]));
  const { value } = compile().evaluate((name) => bindings.get(name));
  if (original.evalError !== undefined) return value instanceof Failure ? undefined : `no error but ${showValue(value)}`;
  if (value instanceof Failure) return `failed: ${'message' in value ? String(value.message) : 'unknown'}`;
  const wanted = valueFrom(original.value ?? original.typedResult?.result ?? { boolValue: true });
  return wanted !== undefined && showValue(wanted) === showValue(value) ? undefined : `value ${showValue(value)}`;
}

before(loadPatternEngine);

for (const name of ['conformance', 'comprehension', 'parsing', 'checking']) {
  test(`the ${name} cases of the CEL specification fare as the ledger says`, async () => {
    const { tests } = (await import(`@bufbuild/cel-spec/testdata/${name}.js`)) as { tests: Parameters<typeof casesOf>[0] };
    const failed = new Map<string, string[]>();
    for (const item of casesOf(tests)) {
      const problem = problemOf(item);
      const section = item.section.split('/').slice(0, 2).join('/');
      if (problem !== undefined) failed.set(section, [...(failed.get(section) ?? []), `${item.name}: ${problem}`]);
    }
    for (const section of new Set([...failed.keys(), ...Object.keys(ledger).filter((key) => key.startsWith(name))])) {
      const found = failed.get(section) ?? [];
      assert.equal(found.length, ledger[section]?.failing ?? 0, `${section}:\n${found.join('\n')}`);
    }
  });
}
