// The objects of one row seen through a row of another group that stores nothing itself (events.k8s.io on core Events).
import { type JsonValue, type KubeObject, type ObjectMeta, formatGroupVersion } from '../../apimachinery/index.ts';
import { encodeEnvelope, encodeMessage } from '../../codec/index.ts';
import type { EncodedForm, StoredObject } from '../contract.ts';
import type { Resource } from '../resource.ts';
import { orderFields } from './layout.ts';
import { addNewline } from './splice.ts';
import { type ObjectContext, type StoredRevision, encodeShown, encodeShownCbor } from './stored-object.ts';

/** A stored object in the group of the viewing row. */
class ViewedObject implements StoredObject {
  readonly resource: Resource;
  readonly #base: StoredRevision;
  readonly #context: ObjectContext;

  constructor(context: ObjectContext, base: StoredRevision) {
    this.#context = context;
    this.resource = context.layout.resource;
    this.#base = base;
  }

  get revision(): number {
    return this.#base.revision;
  }
  get namespace(): string {
    return this.#base.namespace;
  }
  get name(): string {
    return this.#base.name;
  }
  get labels(): Readonly<Record<string, string>> | undefined {
    return this.#base.labels;
  }
  get uid(): string {
    return this.#base.uid;
  }
  member<Name extends keyof ObjectMeta>(name: Name): ObjectMeta[Name] | undefined {
    return this.#base.member(name);
  }
  get size(): number {
    return this.#base.size;
  }

  get fields(): readonly string[] {
    const object = this.object(this.resource.storageVersion);
    return Object.values(this.resource.selectableFields).map((read) => read(object));
  }

  object(version: string): KubeObject {
    const from = this.#base.resource;
    const object = this.#base.object(from.storageVersion);
    const converted = convertView({ object, from: { group: from.group, version: from.storageVersion }, resource: this.resource, version });
    return orderFields(this.#context.layout.schema(version), converted);
  }

  shared(version: string): KubeObject {
    return this.object(version);
  }

  contains(text: string): boolean {
    return this.#base.contains(text);
  }

  bytes(version: string, form: EncodedForm): Uint8Array {
    if (form === 'json-item' || form === 'protobuf-item' || form === 'cbor-item') return this.#encode(version, form);
    return this.#context.memo.get(this.#base, `${form} ${this.#context.layout.apiVersion(version)}`, () => this.#encode(version, form));
  }

  #encode(version: string, form: EncodedForm): Uint8Array {
    if (form === 'json-line') return addNewline(this.#encode(version, 'json-single'));
    if (form === 'json-item' || form === 'json-single') return encodeShown(this.object(version), form === 'json-item');
    if (form === 'cbor-item' || form === 'cbor-single') {
      return encodeShownCbor(this.object(version), this.#context.layout.schema(version), { resource: this.resource, form });
    }
    const raw = encodeMessage(this.#context.layout.schema(version), this.object(version) as unknown as JsonValue);
    return form === 'protobuf-item' ? raw : encodeEnvelope({ apiVersion: this.#context.layout.apiVersion(version), kind: this.resource.kind }, raw);
  }
}

/** An object of the storing row as the viewing row shows it. `convert` of viewing rows speaks of whole group versions. */
function convertView({ object, from, resource, version }: {
  readonly object: KubeObject; readonly from: { readonly group: string; readonly version: string }; readonly resource: Resource; readonly version: string;
}): KubeObject {
  const to = formatGroupVersion({ group: resource.group, version });
  const converted = resource.convert === undefined ? object : resource.convert(object, formatGroupVersion(from), to);
  converted.apiVersion = to;
  converted.kind = resource.kind;
  return converted;
}

/** The same object through the viewing row of `context`. */
export function viewObject(context: ObjectContext, base: StoredRevision): ViewedObject {
  return new ViewedObject(context, base);
}

/** A stored object of which the registry's readers know more than the contract says. */
export type ReadableObject = StoredRevision | ViewedObject;
