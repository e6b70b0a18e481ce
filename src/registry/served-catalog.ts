// A catalog of which some built-in versions are not served (`--runtime-config=apps/v1=false`). The server itself still works with their objects, so its
// own catalog keeps the rows; routes, discovery, OpenAPI and APIServices see this one.
import type { Catalog } from './contract.ts';
import type { Resource } from './resource.ts';
import { compareVersions } from './catalog.ts';

/** Whether a version of a row is not served. */
export type IsHidden = (row: Resource, version: string) => boolean;

type Group = ReturnType<Catalog['groups']>[number];

class ServedCatalog implements Catalog {
  readonly #all: Catalog;
  readonly #isHidden: IsHidden;
  readonly #shown = new WeakMap<Resource, Resource>();

  constructor(all: Catalog, isHidden: IsHidden) {
    this.#all = all;
    this.#isHidden = isHidden;
  }

  get generation(): number {
    return this.#all.generation;
  }

  onChange(listener: () => void): () => void {
    return this.#all.onChange(listener);
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    const row = this.#all.find(group, version, plural);
    return row === undefined || this.#isHidden(row, version) ? undefined : row;
  }

  findResource(group: string, plural: string): Resource | undefined {
    return this.#ifServed(this.#all.findResource(group, plural));
  }

  findKind(group: string, kind: string): Resource | undefined {
    return this.#ifServed(this.#all.findKind(group, kind));
  }

  #ifServed(row: Resource | undefined): Resource | undefined {
    return row === undefined || this.#show(row).versions.some(({ served }) => served) ? row : undefined;
  }

  resources(): readonly Resource[] {
    return this.#all.resources().map((row) => this.#show(row)).filter(({ versions }) => versions.some(({ served }) => served));
  }

  groups(): readonly Group[] {
    const versions = new Map<string, Set<string>>();
    for (const row of this.resources()) {
      for (const { name, served } of row.versions) if (served) versions.set(row.group, (versions.get(row.group) ?? new Set<string>()).add(name));
    }
    return this.#all.groups().filter(({ name }) => versions.has(name))
      .map((group) => ({ ...group, versions: [...versions.get(group.name)!].sort(compareVersions) }));
  }

  add(resource: Resource): void {
    this.#all.add(resource);
  }

  remove(group: string, plural: string): void {
    this.#all.remove(group, plural);
  }

  /** The row as discovery shows it; the row itself where all of its versions are served. */
  #show(row: Resource): Resource {
    if (!row.versions.some(({ name, served }) => served && this.#isHidden(row, name))) return row;
    let shown = this.#shown.get(row);
    if (shown === undefined) {
      const versions = row.versions.map((version) => (this.#isHidden(row, version.name) ? { ...version, served: false } : version));
      this.#shown.set(row, shown = { ...row, versions });
    }
    return shown;
  }
}

/** The catalog without the versions that are not served. */
export function hideVersions(catalog: Catalog, isHidden: IsHidden): Catalog {
  return new ServedCatalog(catalog, isHidden);
}
