// What a request may concern (webhooks, policies) depends on where it points only, and is remembered per such place until what is searched, or the
// catalog, changes: 500 configurations that are about something else cost a write one look-up.
import { BoundedCache } from '../../base/index.ts';
import type { AdmissionAttributes, Catalog } from '../../registry/index.ts';

/** Places that are remembered at most; requests about kinds that come and go do not fill memory. */
const MAX_PLACES = 10_000;

/** What a search has found, by place. */
export class PlaceCache<Found> {
  readonly #catalog: Pick<Catalog, 'generation'>;
  readonly #places = new BoundedCache<string, readonly Found[]>({ limit: MAX_PLACES });
  #generation = -1;

  constructor(catalog: Pick<Catalog, 'generation'>) {
    this.#catalog = catalog;
  }

  /** What `search` finds for requests that point where this one does. */
  find(attributes: AdmissionAttributes, search: () => readonly Found[]): readonly Found[] {
    if (this.#generation !== this.#catalog.generation) {
      this.#generation = this.#catalog.generation;
      this.clear();
    }
    const { operation, resource: { group, plural }, version, subresource, namespace } = attributes;
    const place = `${operation}/${group}/${version}/${plural}/${subresource}/${namespace === '' ? 'c' : 'n'}`;
    return this.#places.peek(place) ?? this.#places.set(place, search());
  }

  /** Forgets all: what is searched has changed. */
  clear(): void {
    this.#places.clear();
  }
}
