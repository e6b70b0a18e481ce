// Mutated inputs for every parser of what clients send. Each input is read, or refused with the error that handlers turn into an answer; what was
// read survives being written and read again; its size is bounded by the input's. A failure prints the seed and the input.
// PINTLE_FUZZ_RUNS sets the inputs of each parser, PINTLE_FUZZ_SEED the seed.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  DecodeError, type JsonObject, type JsonValue, JsonPatchError, type Schema, StatusError, compileJsonPatch, decodeObject, formatLabelSelector,
  loadPatternEngine, loadSchemas, parseFieldSelector, parseLabelSelector, parseCertificateRequest, parsePem, parseQuantity,
} from '../../src/apimachinery/index.ts';
import { CelSyntaxError, PER_CALL_LIMIT, compileExpression, kubernetesEnvironment } from '../../src/apimachinery/cel/index.ts';
import {
  JsonError, ProtobufError, YamlError, decodeEnvelope, decodeMessage, encodeEnvelope, encodeJson, encodeMessage, parseJson, parseYamlToJson, stringifyYaml,
} from '../../src/codec/index.ts';
import { schemaData } from '../../src/resources/index.ts';
import { Dice, mutate } from './mutate.ts';

const runs = Number(process.env.PINTLE_FUZZ_RUNS ?? 2000);
const seed = Number(process.env.PINTLE_FUZZ_SEED ?? 1);

interface Target {
  readonly name: string;
  readonly corpus: readonly (string | Buffer)[];
  /** Pieces of the format. */
  readonly words: readonly string[];
  /** Reads an input and asserts what must hold of it. */
  readonly read: (input: Buffer) => unknown;
  /** The classes of the errors that handlers expect. */
  readonly refusals: readonly (abstract new (...args: never) => Error)[];
  readonly share?: number;
}

const pod = {
  apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { a: 'b' }, creationTimestamp: '2020-01-02T03:04:05Z', generation: 9007199254740993n },
  spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '100m' } }, args: ['--a', '\u{1f600}\\'] }] },
} as unknown as JsonObject;
let podSchema: Schema;

/** Nodes of a value; the count stops far beyond what any input may come to. */
function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let nodes = 1;
  for (const each of Object.values(value)) nodes += countNodes(each);
  return nodes;
}

const assertBounded = (value: unknown, input: Buffer, factor = 1): void =>
  assert.ok(countNodes(value) <= factor * input.length + 10,
  'the value is larger than its text');

function readJson(input: Buffer): void {
  const { value } = parseJson(input);
  assertBounded(value, input);
  const again = encodeJson(value);
  assert.deepEqual(encodeJson(parseJson(again).value), again);
}

/** Text that aliases multiply is bounded by the limit of a body, whatever its own length. */
const YAML_LIMIT_BYTES = 3 * 2 ** 20;

async function readYaml(input: Buffer): Promise<void> {
  const { json } = await parseYamlToJson(input);
  assert.ok(json.length <= YAML_LIMIT_BYTES + input.length);
  const { value } = parseJson(Buffer.from(json));
  const again = await parseYamlToJson(Buffer.from(stringifyYaml(value)));
  assert.deepEqual(parseJson(Buffer.from(again.json)).value, value);
}

function readProtobuf(input: Buffer): void {
  const { raw } = decodeEnvelope(input);
  const object = decodeMessage(podSchema, raw ?? new Uint8Array(0));
  assertBounded(object, input, 40);
  const bytes = encodeMessage(podSchema, object);
  assert.deepEqual(encodeMessage(podSchema, decodeMessage(podSchema, bytes)), bytes);
}

function evaluate(input: Buffer): void {
  const { program } = compileExpression(input.toString(), kubernetesEnvironment);
  const { cost } = program.evaluate(() => undefined, PER_CALL_LIMIT);
  assert.ok(cost <= PER_CALL_LIMIT + 1_000_000, `it cost ${cost}`);
}

const object = { a: [1, { b: 'c' }], 'x/y': { '~': null } };

const targets: readonly Target[] = [
  { name: 'JSON', corpus: [encodeJsonText(pod), '[1.0,2e3,-0,"\\ud83d\\ude00","\\u0000",{"a":1,"a":2}]', '{"__proto__":{"x":1}}'], read: readJson,
    refusals: [JsonError],
    words: ['{', '}', '[', ']', '"', '\\', ',', ':', 'null', '\\ud800', '1e400', '-', '9223372036854775808', '\xef\xbb\xbf', '"__proto__":'] },
  { name: 'typed JSON', corpus: [encodeJsonText(pod)], refusals: [JsonError, DecodeError],
    words: ['"spec":', '{', '[', 'null', '"containers":', '"100m"', '1.5', 'true', '"metadata":', '"2020-01-02T03:04:05Z"'],
    read: (input) => decodeObject(podSchema, (parseJson(input).value ?? {}) as JsonObject, {}) },
  { name: 'YAML', corpus: ['a: &x [1, 2]\nb: *x\nc:\n  - {d: "e", f: |\n      text\n    }\n',
    'kind: Pod\nmetadata:\n  name: a # note\n  labels: {a: "b"}\n', '- 0o17\n- 1_000\n- .inf\n- ~\n- 2020-01-01\n'],
    words: ['&a ', '*a', '<<: ', '- ', ': ', '? ', '|\n', '>-\n ', '{', '[', '!!binary ', '!!js/function ', '---\n', '"', "'", '%YAML 1.1\n', '\t',
    '#', '\n  '],
    read: readYaml, refusals: [YamlError, JsonError], share: 0.5 },
  { name: 'protobuf', corpus: [], words: ['\x0a\xff', '\xff\xff\xff\xff\x0f', '\x12\x00', '\x08\x96\x01', '\x0b', '\x0c',
    '\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01'],
    read: readProtobuf, refusals: [ProtobufError] },
  { name: 'label selectors', corpus: ['a=b,c!=d,e in (f, g),h notin (i),!j,k,l>1', 'app.io/name==x'],
    words: ['in', 'notin', '(', ')', ',', '=', '==', '!=', '!', '>', '<', ' ', 'a.b/c', '\x00', '\xff'],
    read: (input) => {
      const selector = parseLabelSelector(input.toString());
      assert.equal(formatLabelSelector(parseLabelSelector(formatLabelSelector(selector))), formatLabelSelector(selector));
    }, refusals: [Error] },
  { name: 'field selectors', corpus: ['metadata.name=a,spec.nodeName!=b', 'a\\,b=c\\=d'], words: ['\\', ',', '=', '==', '!=', 'metadata.name'],
    read: (input) => parseFieldSelector(input.toString()), refusals: [Error] },
  { name: 'JSON patches', corpus: ['[{"op":"add","path":"/a/0","value":1},{"op":"move","from":"/a","path":"/x~1y/c"},{"op":"copy","from":"","path":"/d"}]'],
    words: ['"op":"test"', '"op":"copy"', '"path":"/a/-"', '"path":""', '/~0', '~1', '-1', '"from":"/a"', ',{"op":"copy","from":"","path":"/d"}'],
    read: (input) => void compileJsonPatch(parseJson(input).value)(structuredClone(object) as JsonValue), refusals: [JsonError, JsonPatchError, StatusError] },
  { name: 'CEL', corpus: ["[1,2,3].map(x, x * 2).exists(y, y > 3) && 'a'.matches('a+')",
    "quantity('1Mi').add(duration('1h').getSeconds()) == url('http://x/y').getHost()",
    "{'a': [1u, 2.5, b'x', null]}.a[0] == 1u ? ip('1.2.3.4').isLoopback() : timestamp('2020-01-01T00:00:00Z') > timestamp('2021-01-01T00:00:00Z')",
    "'%s'.format([[1,2].sum()])"],
    words: ['[', '(', '{', '.', '?', ' : ', ' && ', '!', '-', "'", '"""', 'r"', '.map(x, ', '.all(y, ', '.filter(z, ', '.replace(', '.split(',
    '.matches(', 'has(', '0x', '1e308', 'cel.bind(a, ', '.repeat'],
    read: evaluate, refusals: [CelSyntaxError], share: 0.5 },
  { name: 'quantities', corpus: ['100m', '1.5Gi', '1e3', '-0.00000001', '9223372036854775807Ei'], words: ['0', '9', '.', 'e', 'E', 'Ki', 'm', '-',
    '+', 'e-9999'],
    read: (input) => parseQuantity(input.toString()), refusals: [Error] },
  { name: 'certificate requests', corpus: [
    '-----BEGIN CERTIFICATE REQUEST-----\nMIHkMIGKAgEAMCgxDzANBgNVBAoTBnN5c3RlbTEVMBMGA1UEAxMMc3lzdGVtOm5vZGUw\n'
      + 'WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ=\n-----END CERTIFICATE REQUEST-----\n'],
    words: ['MII', '=', '\n', '-----', 'AAAA', '////'],
    read: (input) => parsePem(input.toString('latin1')).map(({ bytes }) => parseCertificateRequest(bytes)), refusals: [Error] },
];

function encodeJsonText(value: JsonValue): Buffer {
  return Buffer.from(encodeJson(value));
}

before(async () => {
  await loadPatternEngine();
  podSchema = loadSchemas(schemaData).forKind({ group: '', version: 'v1', kind: 'Pod' }) as Schema;
});

/** Errors that are never an answer, whatever class a parser refuses with. */
const internal = [TypeError, RangeError, ReferenceError, SyntaxError, assert.AssertionError];

for (const { name, corpus, words, read, refusals, share = 1 } of targets) {
  test(`${name}: mutated inputs are read or refused`, async (context) => {
    const samples = corpus.length > 0 ? corpus : [Buffer.from(encodeEnvelope({ apiVersion: 'v1', kind: 'Pod' }, encodeMessage(podSchema, pod)))];
    const seeds = samples.map((each) => Buffer.from(each));
    const dice = new Dice(seed);
    let accepted = 0;
    for (let run = 0; run < runs * share; run++) {
      const input = mutate(dice, seeds, words);
      try {
        await read(input);
        accepted++;
      } catch (error) {
        const isRefusal = refusals.some((one) => error instanceof one) && !internal.some((one) => error instanceof one);
        assert.ok(isRefusal, `seed ${seed}, run ${run}: ${(error as Error).stack}\n${JSON.stringify(input.toString('latin1'))}`);
      }
    }
    context.diagnostic(`${accepted} of ${Math.ceil(runs * share)} read`);
    assert.ok(accepted > 0);
  });
}
