// Media types that the API reads and writes, and the lists of them in 406 and 415 texts.

/** Media types of response bodies. */
export const JSON_TYPE = 'application/json';
export const YAML_TYPE = 'application/yaml';
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
export const TEXT_TYPE = 'text/plain; charset=utf-8';

/** The encodings in which bodies are read and written. */
export type Form = 'json' | 'yaml' | 'protobuf';

/** The media type of each encoding, in the reference's order of preference. */
export const formTypes: Readonly<Record<Form, string>> = { json: JSON_TYPE, yaml: YAML_TYPE, protobuf: PROTOBUF_TYPE };

/** The types that 406 and 415 texts list. */
export const objectTypes: readonly string[] = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];
/** The types of watch streams. */
export const streamTypes: readonly string[] = [`${JSON_TYPE};stream=watch`, `${PROTOBUF_TYPE};stream=watch`];

/** Patch types, as Content-Type names them. */
export const JSON_PATCH_TYPE = 'application/json-patch+json';
/** Merge patches of RFC 7396. */
export const MERGE_PATCH_TYPE = 'application/merge-patch+json';
/** Merge patches that know the keys of lists; of built-in kinds only. */
export const STRATEGIC_PATCH_TYPE = 'application/strategic-merge-patch+json';
/** Server-side apply. */
export const APPLY_PATCH_TYPE = 'application/apply-patch+yaml';
