// What writers of device claims need beyond the right to write them: a namespace whose label permits access as an administrator, the right to bind
// for the allocation and its consumers, and a right for each driver whose devices have another status. Mirrors the checks in the reference's storage
// of ResourceClaims (DRAAdminAccess, DRAResourceClaimGranularStatusAuthorization), where they are problems of validation.
import { type FieldError, type JsonObject, type KubeObject, equalJson, forbiddenField } from '../../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { RowReads } from '../../reads.ts';
import { isRow, writes } from '../../refusal.ts';

type Caller = AdmissionAttributes['context']['user'];

/** A right on a part of claims that is no path of the API. */
export interface ClaimRight {
  readonly verb: string;
  readonly version: string;
  readonly subresource: 'binding' | 'driver';
  readonly namespace: string;
  readonly name: string;
}

/** Answers why a caller lacks the right, in the words of the reference's 403; undefined when the caller has it. */
export type FindClaimRefusal = (user: Caller, right: ClaimRight) => Promise<string | undefined>;

interface DeviceClaimOptions {
  readonly namespaces: RowReads;
  readonly findRefusal: FindClaimRefusal;
  /** Whether writers of the status need rights of their own (DRAResourceClaimGranularStatusAuthorization). */
  readonly asksStatusRights: boolean;
}

interface Device {
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
  readonly shareID?: string;
  readonly adminAccess?: boolean;
}

interface ClaimStatus {
  readonly allocation?: { readonly nodeSelector?: NodeSelector; readonly devices?: { readonly results?: readonly Device[] } };
  readonly reservedFor?: readonly unknown[] | null;
  readonly devices?: readonly Device[];
}

interface NodeSelector {
  readonly nodeSelectorTerms?: readonly {
    readonly matchExpressions?: readonly unknown[];
    readonly matchFields?: readonly { readonly key?: string; readonly operator?: string; readonly values?: readonly string[] }[];
  }[];
}

const CLAIMS = 'resource.k8s.io/resourceclaims';
const TEMPLATES = 'resource.k8s.io/resourceclaimtemplates';
const ADMIN_LABEL = 'resource.kubernetes.io/admin-access';
const NODE_NAME_KEY = 'authentication.kubernetes.io/node-name';
const ACCOUNT_PREFIX = 'system:serviceaccount:';

const statusOf = (claim: KubeObject | undefined): ClaimStatus => (claim?.['status'] ?? {}) as ClaimStatus;
const resultsOf = ({ allocation }: ClaimStatus): readonly Device[] => allocation?.devices?.results ?? [];
const keyOf = ({ driver, pool, device, shareID }: Device): string => JSON.stringify([driver, pool, device, shareID ?? '']);

/** Makes the plugin. It runs after everything that mutates: the object that it checked is the one that is stored. */
export function createDeviceClaims(options: DeviceClaimOptions): AdmissionPlugin {
  const writesStatus = ({ resource, subresource, operation }: AdmissionAttributes): boolean =>
    subresource === 'status' && operation === 'UPDATE' && isRow(resource, CLAIMS);
  return {
    name: 'DeviceClaims',
    handles: (attributes) => writes(attributes, CLAIMS) || writes(attributes, TEMPLATES) || writesStatus(attributes),
    async mutate(attributes) {
      attributes.problems = attributes.subresource === 'status' ? await checkStatus(attributes, options) : await checkSpec(attributes, options);
    },
  };
}

/** Requests are `exactly` what they ask for; v1beta1 has its members in the request itself. */
async function checkSpec({ resource, object, namespace }: AdmissionAttributes, { namespaces }: DeviceClaimOptions): Promise<readonly FieldError[]> {
  const outer = object?.['spec'] as JsonObject | undefined;
  const spec = (resource.plural === 'resourceclaims' ? outer : outer?.['spec']) as { devices?: { requests?: readonly JsonObject[] | null } } | undefined;
  const index = (spec?.devices?.requests ?? []).findIndex((request) => ((request['exactly'] ?? request) as Device).adminAccess === true);
  return index < 0 ? [] : requireLabel(namespaces, namespace, `spec.devices.requests[${index}].adminAccess`);
}

async function requireLabel(namespaces: RowReads, namespace: string, field: string): Promise<readonly FieldError[]> {
  const found = await namespaces.find(namespace);
  if (found?.metadata.labels?.[ADMIN_LABEL] === 'true') return [];
  return [forbiddenField(field, `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`)];
}

async function checkStatus(attributes: AdmissionAttributes, options: DeviceClaimOptions): Promise<readonly FieldError[]> {
  const [status, old] = [statusOf(attributes.object), statusOf(attributes.oldObject)];
  const admin = resultsOf(status).findIndex(({ adminAccess }) => adminAccess === true);
  const isNew = admin >= 0 && !resultsOf(old).some(({ adminAccess }) => adminAccess === true);
  const errors = isNew ? await requireLabel(options.namespaces, attributes.namespace, `status.allocation.devices.results[${admin}].adminAccess`) : [];
  if (!options.asksStatusRights) return errors;
  return [...errors, ...await checkBinding(attributes, { status, old }, options), ...await checkDrivers(attributes, { status, old }, options)];
}

interface StatusChange {
  readonly status: ClaimStatus;
  readonly old: ClaimStatus;
}

const verbOf = ({ context }: AdmissionAttributes): string => context.verb ?? 'update';

async function checkBinding(
  attributes: AdmissionAttributes, { status, old }: StatusChange, { findRefusal }: DeviceClaimOptions,
): Promise<readonly FieldError[]> {
  const bound = ({ allocation, reservedFor }: ClaimStatus): unknown => [allocation ?? null, reservedFor ?? []];
  if (equalJson(bound(status), bound(old))) return [];
  const verb = verbOf(attributes);
  const why = await findRefusal(attributes.context.user, { verb, version: attributes.version, subresource: 'binding', namespace: '', name: '' });
  if (why === undefined) return [];
  const needed = `resource="resourceclaims/binding", verb="${verb}" permission`;
  return [forbiddenField('status.allocation', `changing status.allocation or status.reservedFor requires ${needed}: ${why}`)];
}

/** Statuses of devices that are no longer allocated are removed without a right; so are all when the claim is no longer allocated. */
async function checkDrivers(
  attributes: AdmissionAttributes, { status, old }: StatusChange, { findRefusal }: DeviceClaimOptions,
): Promise<readonly FieldError[]> {
  if (status.allocation === undefined) return [];
  const { context: { user }, namespace, version } = attributes;
  const verb = verbOf(attributes);
  const verbs = isOnNode(user, nodeOf(status)) ? [`associated-node:${verb}`, `arbitrary-node:${verb}`] : [`arbitrary-node:${verb}`];
  const errors: FieldError[] = [];
  for (const name of listChangedDrivers(status, old)) {
    let first: string | undefined;
    let isAllowed = false;
    for (const asked of verbs) {
      const why = await findRefusal(user, { verb: asked, version, subresource: 'driver', namespace, name });
      isAllowed = why === undefined;
      first ??= why;
      if (isAllowed) break;
    }
    const needed = `resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission`;
    if (!isAllowed) errors.push(forbiddenField('status.devices', `changing status.devices requires ${needed}: ${first}`));
  }
  return errors;
}

/** The drivers of statuses that were added, changed or removed, in order. */
function listChangedDrivers(status: ClaimStatus, old: ClaimStatus): readonly string[] {
  const allocated = new Set(resultsOf(status).map(keyOf));
  const returned = new Set(resultsOf(old).map(keyOf).filter((key) => !allocated.has(key)));
  const devices = (status.devices ?? []).filter((device) => !returned.has(keyOf(device)));
  const before = new Map((old.devices ?? []).map((device) => [keyOf(device), device]));
  const now = new Set(devices.map(keyOf));
  const changed = devices.filter((device) => !equalJson(device, before.get(keyOf(device))));
  const removed = [...before].filter(([key]) => !now.has(key)).map(([, device]) => device);
  return [...new Set([...changed, ...removed].map(({ driver = '' }) => driver))].sort();
}

/** The one node that the allocation is for. */
function nodeOf({ allocation }: ClaimStatus): string | undefined {
  const [term, ...otherTerms] = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  const [field, ...otherFields] = term?.matchFields ?? [];
  const isOne = otherTerms.length === 0 && otherFields.length === 0 && (term?.matchExpressions ?? []).length === 0;
  return isOne && field?.key === 'metadata.name' && field.operator === 'In' && field.values?.length === 1 ? field.values[0] : undefined;
}

/** Whether the caller is a service account whose token is of a pod on the node. */
function isOnNode({ name, extra }: Caller, node: string | undefined): boolean {
  const nodes = extra?.[NODE_NAME_KEY] ?? [];
  return name.startsWith(ACCOUNT_PREFIX) && node !== undefined && nodes.length === 1 && nodes[0] === node;
}
