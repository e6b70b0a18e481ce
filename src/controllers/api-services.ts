// An APIService for each group version that this server answers: made at the start for the built-in ones, following the catalog for
// custom ones; and the Available condition of each. A group version that names a Service is one that another server should answer: this
// one connects to none, and says why. Mirrors the reference's autoregister and availability controllers.
import type { JsonObject, KubeObject } from '../apimachinery/index.ts';
import { type SystemClient, WorkQueue, createSystemClient, customGroupPriority, equalJson, formatTime, startReflector } from '../registry/index.ts';
import type { Controller, ControllerContext } from './context.ts';

const managedLabel = 'kube-aggregator.kubernetes.io/automanaged';
const reporter = 'apiservices';
/** How often Services behind APIServices are looked at again. */
const lookAtServiceMs = 5_000;

/** A built-in group, its place among groups, and its versions with their places. */
export interface BuiltInGroup {
  readonly group: string;
  readonly priority: number;
  readonly versions: readonly { readonly name: string; readonly priority: number }[];
}

/** The running loop, and which group versions others should answer. */
export interface ApiServices extends Controller {
  readonly isRemote: (group: string, version: string) => boolean;
}

/** The group that serves APIServices has none of its own. */
const ownGroup = 'apiregistration.k8s.io';

function makeApiService(group: string, version: string, place: { readonly group: number; readonly version: number; readonly managed: string }): KubeObject {
  return {
    apiVersion: `${ownGroup}/v1`, kind: 'APIService', metadata: { name: `${version}.${group}`, labels: { [managedLabel]: place.managed } },
    spec: { ...(group !== '' && { group }), version, groupPriorityMinimum: place.group, versionPriority: place.version },
  };
}

function listWanted({ catalog }: ControllerContext, builtIn: readonly BuiltInGroup[]): ReadonlyMap<string, KubeObject> {
  const wanted = new Map<string, KubeObject>();
  for (const { name: group, versions } of catalog.groups()) {
    if (group === ownGroup) continue;
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

interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

interface Availability {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const specOf = (apiService: KubeObject): JsonObject => (apiService['spec'] ?? {}) as JsonObject;
const serviceOf = (apiService: KubeObject): ServiceReference | undefined => specOf(apiService)['service'] as unknown as ServiceReference | undefined;

function markAvailable(apiService: KubeObject, wanted: Availability, now: string): KubeObject {
  const status = (apiService['status'] ?? {}) as { conditions?: JsonObject[] } & JsonObject;
  const conditions = status.conditions ?? [];
  const known = conditions.find((condition) => condition['type'] === 'Available');
  if (known !== undefined && known['status'] === wanted.status && known['reason'] === wanted.reason && known['message'] === wanted.message) return apiService;
  const since = known?.['status'] === wanted.status ? known['lastTransitionTime'] ?? now : now;
  const condition = { type: 'Available', status: wanted.status, lastTransitionTime: since, reason: wanted.reason, message: wanted.message };
  const others = conditions.filter((one) => one !== known);
  return { ...apiService, status: { ...status, conditions: [...others, condition] } };
}

interface Clients {
  readonly services: SystemClient;
  readonly slices: SystemClient;
}

interface PortSpec {
  readonly name?: string;
  readonly port: number;
}

/** Why the Service of an APIService cannot be asked, in the words of the reference. */
async function findObstacle({ namespace, name, port }: ServiceReference, { services, slices }: Clients): Promise<Omit<Availability, 'status'>> {
  const which = `service/${name} in ${JSON.stringify(namespace)}`;
  const service = await services.get({ namespace, name });
  if (service === undefined) return { reason: 'ServiceNotFound', message: `${which} is not present` };
  const { type, ports = [] } = (service['spec'] ?? {}) as { type?: string; ports?: readonly PortSpec[] };
  if (type === 'ExternalName') return { reason: 'FailedDiscoveryCheck', message: `${which} cannot be reached: this server does not forward requests` };
  const found = ports.find((one) => one.port === port);
  if (found === undefined) return { reason: 'ServicePortError', message: `${which} is not listening on port ${port}` };
  const own = (await slices.list(namespace)).filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name);
  if (own.length === 0) return { reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${which}` };
  const portName = found.name ?? '';
  const isReached = own.some((slice) => toObjects(slice['endpoints']).length > 0 && toObjects(slice['ports']).some((one) => (one['name'] ?? '') === portName));
  return isReached ? { reason: 'FailedDiscoveryCheck', message: `${which} cannot be reached: this server does not forward requests` }
    : { reason: 'MissingEndpoints', message: `endpointslices for ${which} have no addresses with port name ${JSON.stringify(portName)}` };
}

const toObjects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : []);

const localAvailability: Availability = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' };

class ApiServiceLoop implements ApiServices {
  readonly #context: ControllerContext;
  readonly #builtIn: readonly BuiltInGroup[];
  readonly #client: SystemClient;
  readonly #clients: Clients;
  readonly #queue: WorkQueue;
  /** Names that were as they should be once: `onstart` ones are left alone from then on. */
  readonly #settled = new Set<string>();
  readonly #remote = new Set<string>();
  #wanted: ReadonlyMap<string, KubeObject> = new Map();
  readonly #ignoreCatalog: () => void;
  readonly #reflector: ReturnType<typeof startReflector>;

  constructor(context: ControllerContext, builtIn: readonly BuiltInGroup[]) {
    this.#context = context;
    this.#builtIn = builtIn;
    this.#client = createSystemClient(context, [ownGroup, 'v1', 'apiservices'], 'kube-apiserver');
    this.#clients = {
      services: createSystemClient(context, ['', 'v1', 'services'], 'kube-apiserver'),
      slices: createSystemClient(context, ['discovery.k8s.io', 'v1', 'endpointslices'], 'kube-apiserver'),
    };
    this.#queue = new WorkQueue({
      clock: context.clock, concurrency: 8, onError: (key, error) => context.report(reporter, key, error), work: (name) => this.#work(name),
    });
    this.#look();
    this.#reflector = startReflector({
      registry: context.registry, clock: context.clock, target: this.#client.target(''),
      onError: (error) => context.report(reporter, '', error),
      onChange: (type, version) => {
        const service = type === 'deleted' ? undefined : serviceOf(version.object('v1'));
        if (service === undefined) this.#remote.delete(version.name);
        else this.#remote.add(version.name);
        this.#queue.add(version.name);
      },
    });
    this.#ignoreCatalog = context.catalog.onChange(() => this.#look());
  }

  readonly isRemote = (group: string, version: string): boolean => this.#remote.size > 0 && this.#remote.has(`${version}.${group}`);

  ready(): Promise<void> {
    return this.#reflector.synced;
  }

  async stop(): Promise<void> {
    this.#ignoreCatalog();
    this.#reflector.stop();
    await this.#queue.stop();
  }

  #look(): void {
    const before = this.#wanted;
    this.#wanted = listWanted(this.#context, this.#builtIn);
    for (const name of new Set([...before.keys(), ...this.#wanted.keys()])) if (before.has(name) !== this.#wanted.has(name)) this.#queue.add(name);
  }

  async #work(name: string): Promise<number | void> {
    const current = await this.#client.get({ namespace: '', name });
    await this.#register(name, current);
    this.#settled.add(name);
    const present = current ?? await this.#client.get({ namespace: '', name });
    return present === undefined ? undefined : this.#judge(name, present);
  }

  async #register(name: string, current: KubeObject | undefined): Promise<void> {
    const wanted = this.#wanted.get(name);
    const isAtStart = wanted?.metadata.labels?.[managedLabel] === 'onstart';
    if (isAtStart && this.#settled.has(name)) return;
    if (current === undefined) {
      if (wanted !== undefined) await this.#client.createIfAbsent('', wanted);
      return;
    }
    const managed = current.metadata.labels?.[managedLabel];
    if (managed !== 'onstart' && managed !== 'true') return;
    if (wanted === undefined) {
      const { uid } = current.metadata;
      await this.#client.remove({ namespace: '', name }, uid === undefined ? {} : { preconditions: { uid } });
    } else if (!equalJson(current['spec'], wanted['spec'])) {
      await this.#client.update({ namespace: '', name }, '', (newest) => ({ ...newest, spec: wanted['spec'] }));
    }
  }

  /** Writes the condition; Services are looked at again after a while. */
  async #judge(name: string, apiService: KubeObject): Promise<number | void> {
    const service = serviceOf(apiService);
    const wanted: Availability = service === undefined ? localAvailability : { status: 'False', ...await findObstacle(service, this.#clients) };
    const now = formatTime(this.#context.clock.now());
    if (markAvailable(apiService, wanted, now) !== apiService) {
      await this.#client.update({ namespace: '', name }, 'status', (newest) => markAvailable(newest, wanted, now));
    }
    return service === undefined ? undefined : lookAtServiceMs;
  }
}

/** Starts at once. */
export function createApiServices(context: ControllerContext, builtIn: readonly BuiltInGroup[]): ApiServices {
  return new ApiServiceLoop(context, builtIn);
}
