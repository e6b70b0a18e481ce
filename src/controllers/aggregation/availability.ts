// Whether the Service of an APIService can be asked, and whether the server behind it answers: the Available condition in the words and the order
// of the reference's availability controller.
import type { JsonObject, KubeObject, ObjectMeta } from '../../apimachinery/index.ts';
import type { DeleteOptions, Registry, SystemClient } from '../../registry/index.ts';
import { findSlicePort, listReadyEndpoints, listServiceSlices } from './service-slices.ts';

/** An APIService with a Service. */
export interface AggregatedApi {
  readonly group: string;
  readonly version: string;
  readonly service: { readonly namespace: string; readonly name: string; readonly port?: number };
  /** PEM; '' for the authorities of the system. */
  readonly authorities: string;
  readonly skipsVerification: boolean;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** What its Available condition says. */
  readonly isAvailable: boolean;
  /** Labels and annotations: a change of them makes this server read the documents again, as the reference does at each write. */
  readonly marks: JsonObject;
}

/** The objects of one namespaced resource that a server behind an APIService keeps. */
export interface AggregatedContent {
  readonly group: string;
  readonly plural: string;
  /** Metadata of the objects in a namespace: of all, or of so many that more make no difference. */
  each(namespace: string): AsyncIterable<ObjectMeta>;
  deleteAll(namespace: string, options: DeleteOptions): Promise<void>;
}

/** Receives the APIServices with Services, and asks the servers behind them. */
export interface AggregatedApis {
  set(api: AggregatedApi): void;
  remove(group: string, version: string): void;
  /** Whether this server serves what an APIService names. */
  setLocal(name: string, isLocal: boolean): void;
  /** Asks for the discovery document of a group version; the answer is why that failed. */
  probe(api: AggregatedApi): Promise<string | undefined>;
  /** Group versions whose resources are not known at the moment, as `group/version`. */
  listUndiscovered(): string[];
  /** The resources whose objects are listed and deleted with their namespace. */
  listContents(): AggregatedContent[];
  /** Ends the questions that are under way, and asks no more. */
  stopAsking(): void;
}

/** The Available condition without its type and time. */
export interface Availability {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** Objects that the condition depends on. */
export interface ServiceClients {
  readonly registry: Registry;
  readonly services: SystemClient;
  readonly slices: SystemClient;
}

interface ServicePort {
  readonly name?: string;
  readonly port: number;
}

const HTTPS_PORT = 443;

/** The condition of a group version that this server answers. */
export const localAvailability: Availability = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' };

const toObjects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : []);

/** The object as this server uses it; undefined where it names no Service. */
export function readAggregatedApi(apiService: KubeObject): AggregatedApi | undefined {
  const spec = (apiService['spec'] ?? {}) as {
    service?: AggregatedApi['service']; group?: string; version?: string; caBundle?: string; insecureSkipTLSVerify?: boolean;
    groupPriorityMinimum?: number; versionPriority?: number;
  };
  if (spec.service === undefined || spec.service === null) return undefined;
  const { labels = {}, annotations = {} } = apiService.metadata ?? {};
  const conditions = toObjects((apiService['status'] as { conditions?: unknown } | undefined)?.conditions);
  return {
    group: spec.group ?? '', version: spec.version ?? '', service: spec.service, authorities: decodeText(spec.caBundle ?? ''),
    skipsVerification: spec.insecureSkipTLSVerify === true, groupPriority: spec.groupPriorityMinimum ?? 0, versionPriority: spec.versionPriority ?? 0,
    isAvailable: conditions.some(({ type, status }) => type === 'Available' && status === 'True'), marks: { labels, annotations },
  };
}

const decodeText = (base64: string): string => new TextDecoder().decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));

/** Why no endpoint of the Service can be asked. */
async function findObstacle(
  { namespace, name, port = HTTPS_PORT }: AggregatedApi['service'], { registry, services, slices }: ServiceClients,
): Promise<Omit<Availability, 'status'> | undefined> {
  const which = `service/${name} in ${JSON.stringify(namespace)}`;
  const service = await services.get({ namespace, name });
  if (service === undefined) return { reason: 'ServiceNotFound', message: `${which} is not present` };
  const { type, ports = [] } = (service['spec'] ?? {}) as { type?: string; ports?: readonly ServicePort[] };
  if (type === 'ExternalName') return undefined;
  const found = ports.find((one) => one.port === port);
  if (found === undefined) return { reason: 'ServicePortError', message: `${which} is not listening on port ${port}` };
  const own = await listServiceSlices(registry, slices.target(namespace), { service: name });
  if (own.length === 0) return { reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${which}` };
  const portName = found.name ?? '';
  const isReached = own.some((slice) => listReadyEndpoints(slice).length > 0 && findSlicePort(slice, portName) !== undefined);
  if (isReached) return undefined;
  return { reason: 'MissingEndpoints', message: `endpointslices for ${which} have no addresses with port name ${JSON.stringify(portName)}` };
}

/** The condition as it is at this moment. */
export async function findAvailability(api: AggregatedApi, clients: ServiceClients, aggregated: AggregatedApis): Promise<Availability> {
  const obstacle = await findObstacle(api.service, clients);
  if (obstacle !== undefined) return { status: 'False', ...obstacle };
  const failure = await aggregated.probe(api);
  if (failure !== undefined) return { status: 'False', reason: 'FailedDiscoveryCheck', message: failure };
  return { status: 'True', reason: 'Passed', message: 'all checks passed' };
}

/** The APIService with this condition; the same object where it has it already. */
export function markAvailable(apiService: KubeObject, wanted: Availability, now: string): KubeObject {
  const status = (apiService['status'] ?? {}) as { conditions?: JsonObject[] } & JsonObject;
  const conditions = status.conditions ?? [];
  const known = conditions.find((condition) => condition['type'] === 'Available');
  if (known !== undefined && known['status'] === wanted.status && known['reason'] === wanted.reason && known['message'] === wanted.message) return apiService;
  const since = known?.['status'] === wanted.status ? known['lastTransitionTime'] ?? now : now;
  const condition = { type: 'Available', status: wanted.status, lastTransitionTime: since, reason: wanted.reason, message: wanted.message };
  const others = conditions.filter((one) => one !== known);
  return { ...apiService, status: { ...status, conditions: [...others, condition] } };
}
