// An object that is worked out for one request and stored nowhere (componentstatuses, dry runs of objects with odd versions).
import type { JsonValue, KubeObject, ObjectMeta } from '../../apimachinery/index.ts';
import { encodeEnvelope, encodeMessage } from '../../codec/index.ts';
import type { EncodedForm, StoredObject } from '../contract.ts';
import { type Resource, versionIn } from '../resource.ts';
import { addNewline } from './splice.ts';
import { encodeShown, encodeShownCbor } from './stored-object.ts';

/** An object in the one version of its row. */
export class ComputedObject implements StoredObject {
  readonly resource: Resource;
  /** It was never written. */
  readonly revision = 0;
  readonly size = 0;
  /** Such kinds have no selectable fields. */
  readonly fields: readonly string[] = [];
  readonly #object: KubeObject;
  readonly #metadata: ObjectMeta;

  constructor(resource: Resource, object: KubeObject) {
    this.resource = resource;
    this.#object = object;
    // Of a custom resource that nothing was read into there is none.
    this.#metadata = object.metadata ?? {};
  }

  get namespace(): string {
    return this.#metadata.namespace ?? '';
  }
  get name(): string {
    return this.#metadata.name ?? '';
  }
  get uid(): string {
    return this.#metadata.uid ?? '';
  }
  get labels(): Readonly<Record<string, string>> | undefined {
    return this.#metadata.labels;
  }
  member<Name extends keyof ObjectMeta>(name: Name): ObjectMeta[Name] | undefined {
    return this.#metadata[name];
  }
  object(): KubeObject {
    return structuredClone({ ...this.#object, metadata: this.#metadata });
  }
  shared(): KubeObject {
    return { ...this.#object, metadata: this.#metadata };
  }
  contains(text: string): boolean {
    return JSON.stringify(this.#object).includes(text);
  }

  bytes(version: string, form: EncodedForm): Uint8Array {
    if (form === 'json-line') return addNewline(this.bytes(version, 'json-single'));
    if (form === 'json-item' || form === 'json-single') return encodeShown(this.#object, form === 'json-item');
    const { schema } = versionIn(this.resource, version)!;
    if (form === 'cbor-item' || form === 'cbor-single') return encodeShownCbor(this.#object, schema, { resource: this.resource, form });
    const raw = encodeMessage(schema, this.#object as unknown as JsonValue);
    return form === 'protobuf-item' ? raw : encodeEnvelope({ apiVersion: this.#object.apiVersion ?? version, kind: this.resource.kind }, raw);
  }
}
