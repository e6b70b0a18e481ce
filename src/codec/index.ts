// The door of codec: bytes to objects and back. Pure; knows no resource by name.
export { JsonError, type OddNumber, type ParseJsonOptions, type ParsedJson, encodeJson, maxJsonDepth, parseJson, stringifyJson } from './json.ts';
export {
  type AcceptClause, type AllowsTransform, type MediaType, type MediaTypeName, type Transform,
  matchContentType, matchesRoute, mediaTypeNames, negotiate, parseAccept, parseContentType,
} from './media-type.ts';
export { frameJson, frameProtobuf } from './watch-frame.ts';
export { type ParsedYaml, YamlError, formatYamlDuplicates, parseYaml, stringifyYaml } from './yaml.ts';
export { ProtobufError, decodeMessage, encodeMessage } from './protobuf.ts';
export {
  type Envelope, type ListHead, type TypeMeta,
  decodeEnvelope, encodeEnvelope, encodeEnvelopeHead, encodeItemHead, encodeList, encodeListHead, envelopeTail, isEnvelope,
} from './envelope.ts';
