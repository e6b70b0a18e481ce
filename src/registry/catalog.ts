// The resources that are served right now: rows by group, version and plural. Discovery, OpenAPI and routes are views of it.
// Groups are ordered as the aggregator does: group priority (higher first), then name; versions as the rows say, by version priority.
import { invariant } from '../base/index.ts';
import type { Catalog } from './contract.ts';
import { type Resource, versionIn } from './resource.ts';

/** How important a group is (`groupPriorityMinimum`); groups that are not listed are those of custom resources. */
interface GroupPriority {
  readonly group: string;
  readonly priority: number;
}

interface Group {
  readonly name: string;
  readonly priority: number;
  readonly versions: readonly string[];
}

/** The place of a group that is not built in among all groups, and of its versions: those of the APIServices that the reference makes. */
export const customGroupPriority = { group: 1000, version: 100 } as const;

const versionPattern = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;

function versionRank(version: string): readonly [number, number, number] {
  const match = versionPattern.exec(version);
  if (match === null) return [0, 0, 0];
  const stability = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}

/** Order of preference of versions: v2, v1, v2beta1, v1beta2, v1alpha1, then others by name. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [versionRank(a), versionRank(b)];
  for (let i = 0; i < 3; i++) if (left[i] !== right[i]) return (right[i] as number) - (left[i] as number);
  return a < b ? -1 : a > b ? 1 : 0;
}

class ResourceCatalog implements Catalog {
  readonly #priorities: ReadonlyMap<string, number>;
  readonly #byPlural = new Map<string, Resource>();
  readonly #byKind = new Map<string, Resource>();
  #sorted: readonly Resource[] | undefined;
  #groups: readonly Group[] | undefined;
  #generation = 0;
  readonly #listeners = new Set<() => void>();
  #telling = false;

  constructor(priorities: readonly GroupPriority[]) {
    this.#priorities = new Map(priorities.map(({ group, priority }) => [group, priority]));
  }

  get generation(): number {
    return this.#generation;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    const row = this.#byPlural.get(`${group}/${plural}`);
    return row && versionIn(row, version)?.served === true ? row : undefined;
  }

  findResource(group: string, plural: string): Resource | undefined {
    return this.#byPlural.get(`${group}/${plural}`);
  }

  findKind(group: string, kind: string): Resource | undefined {
    return this.#byKind.get(`${group}/${kind}`);
  }

  resources(): readonly Resource[] {
    this.#sorted ??= [...this.#byPlural.values()].sort((a, b) => this.#compareGroups(a.group, b.group) || (a.plural < b.plural ? -1 : 1));
    return this.#sorted;
  }

  groups(): readonly Group[] {
    this.#groups ??= this.#collectGroups();
    return this.#groups;
  }

  add(given: Resource): void {
    const resource = given.custom ? this.#besideBuiltIn(given) : given;
    invariant(versionIn(resource, resource.storageVersion) !== undefined, `${resource.plural}: storage version is not among its versions`);
    const key = `${resource.group}/${resource.plural}`;
    const replaced = this.#byPlural.get(key);
    invariant(replaced?.custom !== false || !resource.custom, `${key} is built in`);
    if (replaced !== undefined) this.#forgetKind(replaced);
    this.#byPlural.set(key, resource);
    const kind = `${resource.group}/${resource.kind}`;
    // A custom resource may have the kind of a built-in one, whose kind it remains.
    if (!resource.custom || this.#byKind.get(kind)?.custom !== false) this.#byKind.set(kind, resource);
    this.#changed();
  }

  #forgetKind(row: Resource): void {
    const kind = `${row.group}/${row.kind}`;
    if (this.#byKind.get(kind) === row) this.#byKind.delete(kind);
  }

  /** Group versions that have built-in resources have no custom ones. */
  #besideBuiltIn(resource: Resource): Resource {
    const builtIn = this.resources().filter(({ custom, group }) => !custom && group === resource.group);
    const isBuiltIn = (version: string): boolean => builtIn.some((row) => versionIn(row, version)?.served === true);
    if (!resource.versions.some(({ name }) => isBuiltIn(name))) return resource;
    return { ...resource, versions: resource.versions.map((version) => (isBuiltIn(version.name) ? { ...version, served: false } : version)) };
  }

  remove(group: string, plural: string): void {
    const row = this.#byPlural.get(`${group}/${plural}`);
    if (row === undefined) return;
    this.#byPlural.delete(`${group}/${plural}`);
    this.#forgetKind(row);
    this.#changed();
  }

  #changed(): void {
    this.#generation++;
    this.#sorted = undefined;
    this.#groups = undefined;
    if (this.#telling || this.#listeners.size === 0) return;
    this.#telling = true;
    queueMicrotask(() => {
      this.#telling = false;
      for (const listener of this.#listeners) listener();
    });
  }

  #compareGroups(a: string, b: string): number {
    if (a === b) return 0;
    const difference = this.#priority(b) - this.#priority(a);
    return difference !== 0 ? difference : a < b ? -1 : 1;
  }

  #priority(group: string): number {
    return this.#priorities.get(group) ?? customGroupPriority.group;
  }

  #collectGroups(): readonly Group[] {
    const versions = new Map<string, Set<string>>();
    for (const row of this.resources()) {
      const set = versions.get(row.group) ?? new Set();
      for (const version of row.versions) if (version.served) set.add(version.name);
      versions.set(row.group, set);
    }
    return [...versions].filter(([, set]) => set.size > 0)
      .map(([name, set]) => ({ name, priority: this.#priority(name), versions: [...set].sort(compareVersions) }));
  }
}

/** A catalog of these rows; rows come and go later with `add` and `remove`. */
export function createCatalog(rows: readonly Resource[], priorities: readonly GroupPriority[] = []): Catalog {
  const catalog = new ResourceCatalog(priorities);
  for (const row of rows) catalog.add(row);
  return catalog;
}
