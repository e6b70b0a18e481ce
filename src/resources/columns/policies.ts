// Columns of kinds that steer the server and the scheduler: rbac, admission, flow control, certificates, leases, classes, API services, claims.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import {
  type Cell, ageColumn, column, integerColumn, nameColumn, readPath, textColumn, textOr, toList, toNumber, toObjects, toText, wideColumn, withNameAndAge,
} from './common.ts';
import { formatHumanDuration } from './duration.ts';
import { formatSelectorStruct } from './selector.ts';

function subjectsColumn(name: string, kind: string, format: (subject: JsonObject) => string): Column {
  return wideColumn(name, (object) => toObjects(object['subjects']).filter((subject) => subject['kind'] === kind).map(format).join(', '));
}

const subjectName = (subject: JsonObject): string => toText(subject['name']);

/** Columns of rolebindings and clusterrolebindings. */
export const roleBindingColumns: readonly Column[] = [
  nameColumn,
  column('Role', (object) => `${toText(readPath(object, 'roleRef', 'kind'))}/${toText(readPath(object, 'roleRef', 'name'))}`),
  ageColumn,
  subjectsColumn('Users', 'User', subjectName),
  subjectsColumn('Groups', 'Group', subjectName),
  subjectsColumn('ServiceAccounts', 'ServiceAccount', (subject) => `${toText(subject['namespace'])}/${toText(subject['name'])}`),
];

/** Columns of the two kinds of webhook configurations. */
export const webhookConfigurationColumns: readonly Column[] = withNameAndAge(
  column('Webhooks', (object) => toList(object['webhooks']).length, 'integer'),
);

function formatParamKind(object: KubeObject): string {
  const kind = readPath(object, 'spec', 'paramKind');
  return kind === undefined || kind === null ? '<unset>' : `${toText(readPath(kind, 'apiVersion'))}/${toText(readPath(kind, 'kind'))}`;
}

function policyColumns(name: string, field: string): readonly Column[] {
  return withNameAndAge(
    column(name, (object) => toList(readPath(object, 'spec', field)).length, 'integer'),
    column('ParamKind', formatParamKind),
  );
}

/** Columns of validatingadmissionpolicies. */
export const validatingPolicyColumns: readonly Column[] = policyColumns('Validations', 'validations');

/** Columns of mutatingadmissionpolicies. */
export const mutatingPolicyColumns: readonly Column[] = policyColumns('Mutations', 'mutations');

function formatParamRef(object: KubeObject): string {
  const reference = readPath(object, 'spec', 'paramRef');
  const name = toText(readPath(reference, 'name'));
  if (name !== '') return `${textOr(readPath(reference, 'namespace'), '*')}/${name}`;
  const selector = readPath(reference, 'selector');
  return selector === undefined || selector === null ? '<unset>' : formatSelectorStruct(selector);
}

/** Columns of the bindings of admission policies. */
export const policyBindingColumns: readonly Column[] = withNameAndAge(
  textColumn('PolicyName', 'spec', 'policyName'),
  column('ParamRef', formatParamRef),
);

/** Status of the first condition of a type, or what to print without one. */
function readCondition(object: KubeObject, type: string): JsonObject | undefined {
  return toObjects(readPath(object, 'status', 'conditions')).find((condition) => condition['type'] === type);
}

/** Columns of flowschemas. */
export const flowSchemaColumns: readonly Column[] = [
  nameColumn,
  textColumn('PriorityLevel', 'spec', 'priorityLevelConfiguration', 'name'),
  { ...integerColumn('MatchingPrecedence', 'spec', 'matchingPrecedence'), type: 'string' },
  column('DistinguisherMethod', (object) => textOr(readPath(object, 'spec', 'distinguisherMethod', 'type'), '<none>')),
  ageColumn,
  column('MissingPL', (object) => textOr(readCondition(object, 'Dangling')?.['status'], '?')),
];

/** FlowSchemas print in the order in which they are asked. */
export function compareFlowSchemas(a: KubeObject, b: KubeObject): number {
  const precedence = (schema: KubeObject): number => toNumber(readPath(schema, 'spec', 'matchingPrecedence') ?? 0);
  return precedence(a) - precedence(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
}

function limitColumn(name: string, ...path: readonly string[]): Column {
  return column(name, (object): Cell => {
    const value = readPath(object, 'spec', 'limited', ...path);
    return value === undefined ? '<none>' : toNumber(value);
  });
}

/** Columns of prioritylevelconfigurations. */
export const priorityLevelColumns: readonly Column[] = withNameAndAge(
  textColumn('Type', 'spec', 'type'),
  limitColumn('NominalConcurrencyShares', 'nominalConcurrencyShares'),
  limitColumn('Queues', 'limitResponse', 'queuing', 'queues'),
  limitColumn('HandSize', 'limitResponse', 'queuing', 'handSize'),
  limitColumn('QueueLengthLimit', 'limitResponse', 'queuing', 'queueLengthLimit'),
);

/** A decision, whether it failed, and whether there is a certificate. */
function formatRequestState(object: KubeObject): string {
  const decision = readCondition(object, 'Denied') ? 'Denied' : readCondition(object, 'Approved') ? 'Approved' : 'Pending';
  const failed = readCondition(object, 'Failed') ? ',Failed' : '';
  return `${decision}${failed}${toText(readPath(object, 'status', 'certificate')) === '' ? '' : ',Issued'}`;
}

function formatRequestedDuration(object: KubeObject): string {
  const seconds = readPath(object, 'spec', 'expirationSeconds');
  return seconds === undefined ? '<none>' : formatHumanDuration(toNumber(seconds) * 1000);
}

/** Columns of certificatesigningrequests. */
export const signingRequestColumns: readonly Column[] = [
  nameColumn,
  ageColumn,
  column('SignerName', (object) => textOr(readPath(object, 'spec', 'signerName'), '<none>')),
  textColumn('Requestor', 'spec', 'username'),
  column('RequestedDuration', formatRequestedDuration),
  column('Condition', formatRequestState),
];

/** Columns of leases. */
export const leaseColumns: readonly Column[] = withNameAndAge(textColumn('Holder', 'spec', 'holderIdentity'));

/** Columns of priorityclasses. */
export const priorityClassColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Value', 'value'),
  column('Global-Default', (object) => object['globalDefault'] === true, 'boolean'),
  ageColumn,
  textColumn('PreemptionPolicy', 'preemptionPolicy'),
];

/** Columns of runtimeclasses. */
export const runtimeClassColumns: readonly Column[] = withNameAndAge(textColumn('Handler', 'handler'));

function formatService(object: KubeObject): string {
  const service = readPath(object, 'spec', 'service');
  return service === undefined || service === null ? 'Local' : `${toText(readPath(service, 'namespace'))}/${toText(readPath(service, 'name'))}`;
}

function formatAvailable(object: KubeObject): string {
  const available = readCondition(object, 'Available');
  if (available === undefined) return 'Unknown';
  const status = toText(available['status']);
  const reason = toText(available['reason']);
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}

/** Columns of apiservices. */
export const apiServiceColumns: readonly Column[] = withNameAndAge(column('Service', formatService), column('Available', formatAvailable));

function formatClaimState(object: KubeObject): string {
  const states = object.metadata?.deletionTimestamp === undefined ? [] : ['deleted'];
  if (readPath(object, 'status', 'allocation') === undefined) return states[0] ?? 'pending';
  states.push('allocated');
  if (toList(readPath(object, 'status', 'reservedFor')).length > 0) states.push('reserved');
  return states.join(',');
}

/** Columns of resourceclaims. */
export const resourceClaimColumns: readonly Column[] = withNameAndAge(column('State', formatClaimState));

/** Columns of resourceslices. */
export const resourceSliceColumns: readonly Column[] = withNameAndAge(
  textColumn('Node', 'spec', 'nodeName'),
  textColumn('Driver', 'spec', 'driver'),
  textColumn('Pool', 'spec', 'pool', 'name'),
);
