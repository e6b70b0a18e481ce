// An APIService for each group version that this server answers: made at the start for the built-in ones, following the catalog for
// custom ones; and the Available condition of each. The server behind an APIService with a Service is asked when the object, its Service or the
// Service's endpoints change, and from time to time. Mirrors the reference's autoregister and availability controllers.
import { type KubeObject, equalJson } from '../../apimachinery/index.ts';
import {
  type Catalog, type Reflector, type StoredObject, type SystemClient, WorkQueue, createSystemClient, customGroupPriority, formatTime, startReflector,
} from '../../registry/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import {
  type AggregatedApi, type AggregatedApis, type ServiceClients, findAvailability, localAvailability, markAvailable, readAggregatedApi,
} from './availability.ts';
import { SERVICE_LABEL } from './service-slices.ts';

const MANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';
const REPORTER = 'apiservices';
/** How often a server that answers is asked again, as in the reference, and one that does not at first. */
const RECHECK_MS = 30_000;
const FIRST_RETRY_MS = 1_000;

/** A built-in group, its place among groups, and its versions with their places. */
export interface BuiltInGroup {
  readonly group: string;
  readonly priority: number;
  readonly versions: readonly { readonly name: string; readonly priority: number }[];
}

/** The group that serves APIServices has none of its own. */
const OWN_GROUP = 'apiregistration.k8s.io';

function makeApiService(group: string, version: string, place: { readonly group: number; readonly version: number; readonly managed: string }): KubeObject {
  return {
    apiVersion: `${OWN_GROUP}/v1`, kind: 'APIService', metadata: { name: `${version}.${group}`, labels: { [MANAGED_LABEL]: place.managed } },
    spec: { ...(group !== '' && { group }), version, groupPriorityMinimum: place.group, versionPriority: place.version },
  };
}

function listWanted({ served, builtIn }: Pick<ApiServicesOptions, 'served' | 'builtIn'>): ReadonlyMap<string, KubeObject> {
  const wanted = new Map<string, KubeObject>();
  for (const { name: group, versions } of served.groups()) {
    if (group === OWN_GROUP) continue;
    const known = builtIn.find((one) => one.group === group);
    for (const version of versions) {
      const priority = known?.versions.find(({ name }) => name === version)?.priority;
      const place = known !== undefined && priority !== undefined ? { group: known.priority, version: priority, managed: 'onstart' }
        : { ...customGroupPriority, managed: 'true' };
      wanted.set(`${version}.${group}`, makeApiService(group, version, place));
    }
  }
  return wanted;
}

/** What the loop needs besides its context. */
interface ApiServicesOptions {
  /** The resources that are served, which are perhaps not all that the server works with. */
  readonly served: Catalog;
  readonly builtIn: readonly BuiltInGroup[];
  readonly aggregated: AggregatedApis;
}

class ApiServiceLoop implements Controller {
  readonly #context: ControllerContext;
  readonly #options: ApiServicesOptions;
  readonly #client: SystemClient;
  readonly #clients: ServiceClients;
  readonly #aggregated: AggregatedApis;
  readonly #queue: WorkQueue;
  /** Names that were as they should be once: `onstart` ones are left alone from then on. */
  readonly #settled = new Set<string>();
  /** APIServices with Services, and how often in a row each was found unavailable. */
  readonly #remote = new Map<string, AggregatedApi>();
  readonly #failures = new Map<string, number>();
  #wanted: ReadonlyMap<string, KubeObject> = new Map();
  readonly #ignoreCatalog: () => void;
  readonly #reflector: Reflector;
  /** Of Services and their endpoints: followed from the first APIService with a Service on. */
  #serviceReflectors: readonly Reflector[] = [];

  constructor(context: ControllerContext, options: ApiServicesOptions) {
    this.#context = context;
    this.#options = options;
    this.#aggregated = options.aggregated;
    this.#client = createSystemClient(context, [OWN_GROUP, 'v1', 'apiservices'], 'kube-apiserver');
    this.#clients = {
      registry: context.registry,
      services: createSystemClient(context, ['', 'v1', 'services'], 'kube-apiserver'),
      slices: createSystemClient(context, ['discovery.k8s.io', 'v1', 'endpointslices'], 'kube-apiserver'),
    };
    this.#queue = new WorkQueue({
      observer: context.observeQueue?.('apiservices'),
      clock: context.clock, concurrency: 8, onError: (key, error) => context.report(REPORTER, key, error), work: (name) => this.#work(name),
    });
    this.#look();
    this.#reflector = startReflector({
      registry: context.registry, clock: context.clock, target: this.#client.target(''),
      onError: (error) => context.report(REPORTER, '', error),
      onChange: (type, version) => {
        const api = type === 'deleted' ? undefined : readAggregatedApi(version.object('v1'));
        this.#note(version.name, api);
        this.#aggregated.setLocal(version.name, type !== 'deleted' && api === undefined);
        this.#queue.add(version.name);
      },
    });
    this.#ignoreCatalog = context.catalog.onChange(() => this.#look());
  }

  ready(): Promise<void> {
    return this.#reflector.synced;
  }

  async stop(): Promise<void> {
    this.#ignoreCatalog();
    this.#reflector.stop();
    for (const reflector of this.#serviceReflectors) reflector.stop();
    this.#aggregated.stopAsking();
    await this.#queue.stop();
  }

  #note(name: string, api: AggregatedApi | undefined): void {
    const known = this.#remote.get(name);
    if (api !== undefined) {
      this.#remote.set(name, api);
      this.#aggregated.set(api);
      if (this.#serviceReflectors.length === 0) this.#followServices();
    } else if (known !== undefined) {
      this.#remote.delete(name);
      this.#failures.delete(name);
      this.#aggregated.remove(known.group, known.version);
    }
  }

  #followServices(): void {
    const follow = (client: SystemClient, nameOf: (object: StoredObject) => string | undefined): Reflector => startReflector({
      registry: this.#context.registry, clock: this.#context.clock, target: client.target(''),
      onError: (error) => this.#context.report(REPORTER, '', error),
      onChange: (_type, object) => this.#lookAgain(object.namespace, nameOf(object)),
    });
    const { services, slices } = this.#clients;
    this.#serviceReflectors = [follow(services, ({ name }) => name), follow(slices, ({ labels }) => labels?.[SERVICE_LABEL])];
  }

  /** Looks at the APIServices of a Service. */
  #lookAgain(namespace: string, service: string | undefined): void {
    for (const [name, api] of this.#remote) if (api.service.name === service && api.service.namespace === namespace) this.#queue.add(name);
  }

  #look(): void {
    const before = this.#wanted;
    this.#wanted = listWanted(this.#options);
    for (const name of new Set([...before.keys(), ...this.#wanted.keys()])) if (before.has(name) !== this.#wanted.has(name)) this.#queue.add(name);
  }

  async #work(name: string): Promise<number | void> {
    const current = await this.#client.get({ namespace: '', name });
    await this.#register(name, current);
    this.#settled.add(name);
    const present = current ?? await this.#client.get({ namespace: '', name });
    return present === undefined ? undefined : this.#reportAvailability(name, present);
  }

  async #register(name: string, current: KubeObject | undefined): Promise<void> {
    const wanted = this.#wanted.get(name);
    const isAtStart = wanted?.metadata.labels?.[MANAGED_LABEL] === 'onstart';
    if (isAtStart && this.#settled.has(name)) return;
    if (current === undefined) {
      if (wanted !== undefined) await this.#client.createIfAbsent('', wanted);
      return;
    }
    const managed = current.metadata.labels?.[MANAGED_LABEL];
    if (managed !== 'onstart' && managed !== 'true') return;
    if (wanted === undefined) {
      const { uid } = current.metadata;
      await this.#client.remove({ namespace: '', name }, uid === undefined ? {} : { preconditions: { uid } });
    } else if (!equalJson(current['spec'], wanted['spec'])) {
      await this.#client.update({ namespace: '', name }, '', (newest) => ({ ...newest, spec: wanted['spec'] }));
    }
  }

  /** Writes the condition; the answer is when to look again. */
  async #reportAvailability(name: string, apiService: KubeObject): Promise<number | void> {
    const api = readAggregatedApi(apiService);
    const wanted = api === undefined ? localAvailability : await findAvailability(api, this.#clients, this.#aggregated);
    const now = formatTime(this.#context.clock.now());
    if (markAvailable(apiService, wanted, now) !== apiService) {
      await this.#client.update({ namespace: '', name }, 'status', (newest) => (
        equalJson(newest['spec'], apiService['spec']) ? markAvailable(newest, wanted, now) : newest));
    }
    if (api === undefined) return undefined;
    const failures = wanted.status === 'True' ? 0 : (this.#failures.get(name) ?? 0) + 1;
    this.#failures.set(name, failures);
    return failures === 0 ? RECHECK_MS : Math.min(RECHECK_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
  }
}

/** Starts at once. */
export function createApiServices(context: ControllerContext, options: ApiServicesOptions): Controller {
  return new ApiServiceLoop(context, options);
}
