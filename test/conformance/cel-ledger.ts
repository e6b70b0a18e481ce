// How many cases of each section of the CEL specification's suites do not come out as the suite has them, and why that is so.

interface LedgerEntry {
  readonly failing: number;
  readonly reason: string;
}

const messages = 'cases that build or read protobuf messages; Kubernetes gives expressions JSON and schemas instead';

export const ledger: Readonly<Record<string, LedgerEntry>> = {
  'conformance/bindings_ext': { failing: 5, reason: 'cel.bind is not enabled in Kubernetes' },
  'conformance/block_ext': { failing: 37, reason: 'cel.block is not enabled in Kubernetes' },
  'conformance/comparisons': { failing: 72, reason: messages },
  'conformance/conversions': { failing: 1, reason: 'the suite expects dyn not to name a type, cel-go has it do so' },
  'conformance/dynamic': { failing: 201, reason: messages },
  'conformance/encoders_ext': { failing: 4, reason: 'base64 is not enabled in Kubernetes' },
  'conformance/enums': { failing: 79, reason: messages },
  'conformance/fields': { failing: 3, reason: 'cel-go takes doubles for keys of maps, and the last of the entries with one key' },
  'conformance/math_ext': { failing: 182, reason: 'the math extension is not enabled in Kubernetes' },
  'conformance/optionals': { failing: 13, reason: `${messages}; Kubernetes does not enable errors of presence tests on what has no fields` },
  'conformance/parse': { failing: 26, reason: messages },
  'conformance/proto2': { failing: 102, reason: messages },
  'conformance/proto2_ext': { failing: 18, reason: messages },
  'conformance/proto3': { failing: 69, reason: messages },
  'conformance/string_ext': { failing: 20, reason: 'Kubernetes has version 2 of the extension, which writes numbers, lists and maps otherwise' },
  'conformance/timestamps': { failing: 1, reason: 'cel-go counts the milliseconds of a whole duration, as it does its seconds' },
  'conformance/type_deductions': { failing: 26, reason: 'messages, and functions that only the suite declares' },
  'conformance/wrappers': { failing: 36, reason: messages },
  comprehensions: { failing: 53, reason: 'recorded without the library (errors), or with cel.bind, which Kubernetes does not enable' },
  parsing: { failing: 34, reason: "macros, optional syntax and limits of depth and recovery that the recording sets otherwise than Kubernetes" },
  checking: { failing: 56, reason: 'messages, and functions that the recording declares and the case does not name' },
};
