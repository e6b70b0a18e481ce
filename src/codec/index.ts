// The door of codec: bytes to objects and back. Pure; knows no resource by name.
export { JsonError, type OddNumber, encodeJson, parseJson, parseJsonInParts, stringifyJson } from './json/json.ts';
export { cutValues } from './json/parts.ts';
export { type Transform, matchContentType, matchesRoute, negotiate, parseAccept, withoutParameters } from './media-type.ts';
export { hasManyItems } from './cbor/count.ts';
export { CborError, isCbor, parseCbor } from './cbor/decode.ts';
export { formatCbor } from './cbor/format.ts';
export { encodeCbor, encodeCborHead, encodeCborItem, turnCbor } from './cbor/encode.ts';
export { encodeUtf8 } from './utf8.ts';
export { frameCbor, frameJson, frameProtobuf } from './watch-frame.ts';
export { type ParseYaml, YamlError, type YamlJson, formatYamlDuplicates, parseYaml, parseYamlToJson, stringifyYaml } from './yaml/yaml.ts';
export { ProtobufError, decodeMessage, encodeMessage } from './protobuf/message.ts';
export { decodeEnvelope, encodeEnvelope, isProtobuf } from './protobuf/envelope.ts';
