// All webhooks of one sort, kept up to date by a Reflector: a configuration is compiled once and kept until it changes.
import type { KubeObject } from '../../apimachinery/index.ts';
import { type Clock, compareKeys, invariant } from '../../base/index.ts';
import { type AdmissionAttributes, type Catalog, type Reflector, type Registry, startReflector } from '../../registry/index.ts';
import { PlaceCache } from '../match/place-cache.ts';
import { type ResourceForm, findForm } from '../match/resource-forms.ts';
import { pointOf } from '../match/rules.ts';
import { isExempt } from './exempt.ts';
import { type Webhook, compileConfiguration } from './webhook.ts';

/** A webhook whose rules are about a request, the form that it is to be sent, and its place among all webhooks of its sort. */
export interface Candidate {
  readonly webhook: Webhook;
  readonly form: ResourceForm;
  readonly index: number;
}

/** The webhooks of the configurations of one kind. */
export class WebhookConfigurations {
  readonly #catalog: Pick<Catalog, 'resources' | 'generation'>;
  readonly #configurations = new Map<string, readonly Webhook[]>();
  readonly #places: PlaceCache<Candidate>;
  #static: readonly Webhook[] = [];
  /** Undefined until the next look-up after a change. */
  #ordered: readonly Webhook[] | undefined;

  constructor(catalog: Pick<Catalog, 'resources' | 'generation'>) {
    this.#catalog = catalog;
    this.#places = new PlaceCache(catalog);
  }

  /** Takes a configuration that is new or has changed. */
  put(object: KubeObject): void {
    this.#configurations.set(object.metadata.name ?? '', compileConfiguration(object));
    this.#forgetOrder();
  }

  remove(name: string): void {
    if (this.#configurations.delete(name)) this.#forgetOrder();
  }

  /** Takes configurations of static manifests, in place of those before. */
  setStatic(objects: readonly KubeObject[]): void {
    const named = [...objects].sort((a, b) => compareKeys(a.metadata.name ?? '', b.metadata.name ?? ''));
    this.#static = named.flatMap((object) => compileConfiguration(object, 'manifest/'));
    this.#forgetOrder();
  }

  /** Forgets all configurations but these. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#configurations.keys()) if (!names.has(name)) this.remove(name);
  }

  /** Webhooks whose rules are about a request: static ones first, by name of their configuration and then in its order. */
  findCandidates(attributes: AdmissionAttributes): readonly Candidate[] {
    if (this.#configurations.size === 0 && this.#static.length === 0) return [];
    return this.#places.find(attributes, () => this.#search(attributes));
  }

  #search(attributes: AdmissionAttributes): readonly Candidate[] {
    const [point, catalog] = [pointOf(attributes), this.#catalog];
    this.#ordered ??= [...this.#configurations].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, webhooks]) => webhooks);
    const webhooks = isExempt(attributes) ? this.#static : [...this.#static, ...this.#ordered];
    return webhooks.flatMap((webhook, index): Candidate[] => {
      const form = findForm(attributes, { rules: webhook.rules, matchPolicy: webhook.matchPolicy, point, catalog });
      return form === undefined ? [] : [{ webhook, form, index }];
    });
  }

  #forgetOrder(): void {
    this.#ordered = undefined;
    this.#places.clear();
  }
}

interface FollowOptions {
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** `mutatingwebhookconfigurations` or `validatingwebhookconfigurations`. */
  readonly plural: string;
  /** Is handed failures, after which the configurations are read again. */
  readonly onError: (error: unknown) => void;
}

/** Keeps configurations up to date; `synced` of the reflector resolves when those that were there are known. */
export function followConfigurations(configurations: WebhookConfigurations, { registry, catalog, clock, plural, onError }: FollowOptions): Reflector {
  const resource = catalog.find('admissionregistration.k8s.io', 'v1', plural);
  invariant(resource !== undefined, `${plural} are served`);
  return startReflector({
    registry, clock, target: { resource, version: 'v1', namespace: '' }, onError,
    onChange(type, stored) {
      if (type === 'deleted') configurations.remove(stored.name);
      else configurations.put(stored.object('v1'));
    },
    onListed: (list) => configurations.keepOnly(new Set(Array.from(list.items, ({ name }) => name))),
  });
}
