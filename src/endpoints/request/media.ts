// Media types that the API reads and writes, and the lists of them in 406 and 415 texts.

/** Media types of response bodies. */
export const JSON_TYPE = 'application/json';
export const YAML_TYPE = 'application/yaml';
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const CBOR_TYPE = 'application/cbor';
/** Watch streams in CBOR. */
export const CBOR_SEQUENCE_TYPE = 'application/cbor-seq';
export const TEXT_TYPE = 'text/plain; charset=utf-8';

/** The encodings in which bodies are read and written. */
export type Form = 'json' | 'yaml' | 'protobuf' | 'cbor';

/** The media type of each encoding, in the reference's order of preference. */
export const formTypes: Readonly<Record<Form, string>> = { json: JSON_TYPE, yaml: YAML_TYPE, protobuf: PROTOBUF_TYPE, cbor: CBOR_TYPE };

/** What a server reads and writes: CBOR as well where the feature gate CBORServingAndStorage is on. */
export interface Media {
  /** The encodings of objects, in the reference's order of preference. */
  readonly forms: readonly Form[];
  readonly streamForms: readonly Form[];
  /** The types that 406 and 415 texts list. */
  readonly objectTypes: readonly string[];
  /** The types of watch streams. */
  readonly streamTypes: readonly string[];
  /** Types of a route that lists or watches. */
  readonly collectionTypes: readonly string[];
  /** Types of apply configurations. */
  readonly applyTypes: readonly string[];
}

function describeMedia(forms: readonly Form[], applyTypes: readonly string[]): Media {
  const streamForms = forms.filter((form) => form !== 'yaml');
  const objectTypes = forms.map((form) => formTypes[form]);
  const streamTypes = streamForms.map((form) => (form === 'cbor' ? CBOR_SEQUENCE_TYPE : `${formTypes[form]};stream=watch`));
  return Object.freeze({ forms, streamForms, objectTypes, streamTypes, collectionTypes: [...objectTypes, ...streamTypes], applyTypes });
}

/** Patch types, as Content-Type names them. */
export const JSON_PATCH_TYPE = 'application/json-patch+json';
/** Merge patches of RFC 7396. */
export const MERGE_PATCH_TYPE = 'application/merge-patch+json';
/** Merge patches that know the keys of lists; of built-in kinds only. */
export const STRATEGIC_PATCH_TYPE = 'application/strategic-merge-patch+json';
/** Server-side apply. */
export const APPLY_PATCH_TYPE = 'application/apply-patch+yaml';
/** The same in CBOR. */
export const APPLY_CBOR_PATCH_TYPE = 'application/apply-patch+cbor';

/** The media of a server without CBOR. */
export const plainMedia = describeMedia(['json', 'yaml', 'protobuf'], [APPLY_PATCH_TYPE]);
/** The media of a server with CBOR. */
export const cborMedia = describeMedia(['json', 'yaml', 'protobuf', 'cbor'], [APPLY_PATCH_TYPE, APPLY_CBOR_PATCH_TYPE]);
