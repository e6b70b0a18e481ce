// The door of codec: bytes to objects and back. Pure; knows no resource by name.
export { JsonError, type OddNumber, type ParseJsonOptions, type ParsedJson, encodeJson, maxJsonDepth, parseJson, stringifyJson } from './json.ts';
