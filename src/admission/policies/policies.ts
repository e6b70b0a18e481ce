// All policies of one kind and their bindings, kept up to date by two Reflectors: a policy is compiled once and kept until its spec changes.
import type { KubeObject } from '../../apimachinery/index.ts';
import { type Clock, compareKeys, invariant } from '../../base/index.ts';
import { type AdmissionAttributes, type Catalog, type Reflector, type Registry, startReflector } from '../../registry/index.ts';
import { PlaceCache } from '../match/place-cache.ts';
import { type PlacedCriteria, listPlace, placeCriteria } from './criteria.ts';
import { findAudience } from './excluded.ts';
import { type Binding, type CompileSpec, type Policy, type PolicySpec, createBinding, createPolicy, identifyPolicy } from './policy.ts';

/** A policy whose rules are about a request, with those of its bindings that may be. */
export interface Hook<Program> {
  readonly policy: Policy<Program>;
  readonly placed: PlacedCriteria;
  readonly bindings: readonly { readonly binding: Binding; readonly placed: PlacedCriteria }[];
}

type Rows = Pick<Catalog, 'resources' | 'generation'>;

/** Policies and their bindings, by name. */
interface Source<Program> {
  readonly policies: Map<string, Policy<Program>>;
  readonly bindings: Map<string, Binding>;
}

/** The policies of one kind. */
export class Policies<Spec extends PolicySpec, Program> {
  readonly #catalog: Rows;
  readonly #compile: CompileSpec<Spec, Program>;
  readonly #api: Source<Program> = { policies: new Map(), bindings: new Map() };
  #static: Source<Program> = { policies: new Map(), bindings: new Map() };
  readonly #places: PlaceCache<Hook<Program>>;

  constructor(catalog: Rows, compile: CompileSpec<Spec, Program>) {
    this.#catalog = catalog;
    this.#compile = compile;
    this.#places = new PlaceCache(catalog);
  }

  /** Takes a policy that is new or has changed. */
  putPolicy(object: KubeObject): void {
    const name = object.metadata.name ?? '';
    if (this.#api.policies.get(name)?.identity === identifyPolicy(object)) return;
    this.#api.policies.set(name, createPolicy(object, this.#compile));
    this.#places.clear();
  }

  /** Takes a binding that is new or has changed. */
  putBinding(object: KubeObject): void {
    this.#api.bindings.set(object.metadata.name ?? '', createBinding(object));
    this.#places.clear();
  }

  /** Takes policies and bindings of static manifests, in place of those before. */
  setStatic(objects: readonly KubeObject[]): void {
    const isBinding = ({ kind = '' }: KubeObject): boolean => kind.endsWith('Binding');
    const byName = <T>(made: readonly (T & { readonly name: string })[]): Map<string, T> => new Map(made.map((one) => [one.name, one]));
    this.#static = {
      policies: byName(objects.filter((object) => !isBinding(object)).map((object) => createPolicy(object, this.#compile))),
      bindings: byName(objects.filter(isBinding).map(createBinding)),
    };
    this.#places.clear();
  }

  /** Forgets policies or bindings: all that the test does not keep. */
  retain(what: 'policies' | 'bindings', keeps: (name: string) => boolean): void {
    const known: Map<string, unknown> = this.#api[what];
    for (const name of known.keys()) if (!keeps(name)) known.delete(name);
    this.#places.clear();
  }

  /** The policies that a request may concern: static ones first, by name, with their bindings by name. */
  findHooks(attributes: AdmissionAttributes): readonly Hook<Program>[] {
    const isEmpty = ({ policies, bindings }: Source<Program>): boolean => policies.size === 0 || bindings.size === 0;
    if (isEmpty(this.#api) && isEmpty(this.#static)) return [];
    return this.#places.find(attributes, () => {
      const audience = findAudience(attributes);
      return [...(audience === 'none' ? [] : this.#search(attributes, this.#static)), ...(audience === 'all' ? this.#search(attributes, this.#api) : [])];
    });
  }

  #search(attributes: AdmissionAttributes, source: Source<Program>): Hook<Program>[] {
    const place = listPlace(attributes, this.#catalog);
    const bindings = new Map<string, Binding[]>();
    for (const binding of [...source.bindings.values()].sort((a, b) => compareKeys(a.name, b.name))) {
      bindings.set(binding.policyName, [...bindings.get(binding.policyName) ?? [], binding]);
    }
    const hooks: Hook<Program>[] = [];
    for (const policy of [...source.policies.values()].sort((a, b) => compareKeys(a.name, b.name))) {
      const bound = bindings.get(policy.name);
      const placed = bound && placeCriteria(policy.criteria, place);
      if (placed === undefined || bound === undefined) continue;
      const candidates = bound.flatMap((binding) => {
        const at = placeCriteria(binding.criteria, place);
        return at === undefined ? [] : [{ binding, placed: at }];
      });
      // Without a binding that matches, a policy whose parameters are of an unknown kind still refuses.
      if (candidates.length > 0 || policy.paramKind !== undefined) hooks.push({ policy, placed, bindings: candidates });
    }
    return hooks;
  }
}

interface FollowOptions {
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly sort: 'mutating' | 'validating';
  /** Receives failures, after which policies or bindings are read again. */
  readonly onError: (error: unknown) => void;
}

/** Keeps policies and bindings up to date; `synced` of both reflectors resolves when those that were there are known. */
export function followPolicies<Spec extends PolicySpec, Program>(policies: Policies<Spec, Program>,
  { registry, catalog, clock, sort, onError }: FollowOptions): readonly Reflector[] {
  const follow = (what: 'policies' | 'bindings', plural: string, put: (object: KubeObject) => void): Reflector => {
    const resource = catalog.find('admissionregistration.k8s.io', 'v1', plural);
    invariant(resource !== undefined, `${plural} are served`);
    return startReflector({
      registry, clock, target: { resource, version: 'v1', namespace: '' }, onError,
      onChange(type, stored) {
        if (type === 'deleted') policies.retain(what, (name) => name !== stored.name);
        else put(stored.object('v1'));
      },
      onListed(list) {
        const names = new Set(Array.from(list.items, ({ name }) => name));
        policies.retain(what, (name) => names.has(name));
      },
    });
  };
  return [
    follow('policies', `${sort}admissionpolicies`, (object) => policies.putPolicy(object)),
    follow('bindings', `${sort}admissionpolicybindings`, (object) => policies.putBinding(object)),
  ];
}
