// resource.k8s.io/v1alpha3 ResourcePoolStatusRequest: a question about pools that a controller answers once, in the status; off by default.
import { type KubeObject, byteLength, checkDnsSubdomain, equalJson, invalidValue, required, tooLong, tooMany } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, integerColumn, nameColumn, readCondition, textColumn } from '../common/columns/columns.ts';
import { formatAge } from '../common/columns/duration.ts';
import { allUserMetadata, prepareWithStatus, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkText, each, isEmptyText, isGiven, none, specOf, statusOf } from '../common/validation/check.ts';
import { checkConditions } from '../common/validation/conditions.ts';
import { MAX_POOL_PARTS } from './parts.ts';
import { readPath, toNumber, toObjects, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

const poolsOf = (request: KubeObject) => toObjects(readPath(request, 'status', 'pools'));
const isTrue = (request: KubeObject, type: string): boolean => readCondition(request, type)?.['status'] === 'True';
const isAnswered = (request: KubeObject): boolean => readPath(request, 'status') !== undefined;
const countPools = (request: KubeObject): number => toNumber(readPath(request, 'status', 'poolCount') ?? 0);

function formatState(request: KubeObject): string {
  if (!isTrue(request, 'Complete')) return isTrue(request, 'Failed') ? 'Failed' : 'Pending';
  const [shown, all] = [poolsOf(request).length, countPools(request)];
  return all > shown ? `Complete (${shown}/${all} pools)` : 'Complete';
}

/** A sum over the pools of an answer that did not fail. */
function sumColumn(name: string, read: (pool: Readonly<Record<string, unknown>>) => number): Column {
  return column(name, (request) => {
    const isMissing = !isAnswered(request) || (isTrue(request, 'Failed') && !isTrue(request, 'Complete'));
    return isMissing ? '-' : String(poolsOf(request).reduce((sum, pool) => sum + read(pool), 0));
  });
}

const devicesColumn = (name: string, member: string): Column => sumColumn(name, (pool) => toNumber(pool[member] ?? 0));

const poolRequestColumns: readonly Column[] = [
  nameColumn, textColumn('Driver', 'spec', 'driver'),
  devicesColumn('Total', 'totalDevices'), devicesColumn('Available', 'availableDevices'), devicesColumn('Allocated', 'allocatedDevices'),
  devicesColumn('Unavailable', 'unavailableDevices'), sumColumn('Errors', (pool) => (pool['validationError'] === undefined ? 0 : 1)),
  integerColumn('Pools', 'status', 'poolCount'), column('Status', formatState),
  column('Completed', (request, nowMs) =>
    (isTrue(request, 'Complete') ? formatAge(toText(readCondition(request, 'Complete')?.['lastTransitionTime']), nowMs) : '<none>')),
];
const MAX_POOLS = 1000;
const MAX_CONDITIONS = 10;
const MAX_POOL_BYTES = 253;
const MAX_ERROR_BYTES = 256;
const poolCounts = [['resourceSliceCount', 1], ['totalDevices', 0], ['allocatedDevices', 0], ['availableDevices', 0], ['unavailableDevices', 0]] as const;

function checkLeast(place: Field, least: number): Errors {
  return isGiven(place) && toNumber(place.value) < least ? [invalidValue(place.path, place.value, `must be greater than or equal to ${least}`)] : none;
}

/** The problems of a DNS subdomain in any case, in words that speak of any case. */
function checkAnyCase(text: string): readonly string[] {
  return checkDnsSubdomain(text.toLowerCase()).map((problem) =>
    problem.replace('a lowercase RFC', 'an RFC').replace('lower case alphanumeric', 'alphanumeric').replace('e.g. \'example', 'e.g. \'Example'));
}

/** The name of a driver: a DNS subdomain in any case. */
function checkDriver(place: Field): Errors {
  return isEmptyText(place) ? [required(place.path)] : checkText(place, checkAnyCase);
}

/** DNS subdomains with slashes between them. */
function checkPool(place: Field): Errors {
  const text = toText(place.value);
  const problems = text.split('/', MAX_POOL_PARTS).flatMap((part, index) =>
    (part === '' ? [invalidValue(place.path, text, `segment ${index}: must not be empty`)]
      : checkDnsSubdomain(part).map((problem) => invalidValue(place.path, part, `segment ${index}: ${problem}`))));
  return [...(text.length > MAX_POOL_BYTES ? [tooLong(place.path, MAX_POOL_BYTES)] : []), ...problems];
}

/** A list of bounded length; a longer one has that error and no others. */
function checkList(list: Field, max: number, check: (list: Field) => Errors): Errors {
  const count = each(list).length;
  return count > max ? [tooMany(list.path, count, max)] : check(list);
}

function validateRequest(request: KubeObject): Errors {
  const [driver, pool, limit] = ['driver', 'poolName', 'limit'].map((name) => at(specOf(request), name)) as [Field, Field, Field];
  const overLimit = toNumber(limit.value ?? 0) > MAX_POOLS ? [invalidValue(limit.path, limit.value, `must be less than or equal to ${MAX_POOLS}`)] : [];
  return [...checkDriver(driver), ...(isGiven(pool) ? checkPool(pool) : []), ...overLimit, ...checkLeast(limit, 1)];
}

/** The reference does not show the spec. */
function checkSameSpec(request: KubeObject, old: KubeObject): Errors {
  const { path, value } = specOf(request);
  return equalJson(value, specOf(old).value) ? [] : [invalidValue(path, null, 'field is immutable')];
}

function checkPoolStatus(pool: Field): Errors {
  const [name, node, error] = [at(pool, 'poolName'), at(pool, 'nodeName'), at(pool, 'validationError')];
  return [
    ...checkDriver(at(pool, 'driver')), ...(isEmptyText(name) ? [required(name.path)] : checkPool(name)),
    ...(toNumber(at(pool, 'generation').value ?? 0) === 0 ? [required(at(pool, 'generation').path)] : checkLeast(at(pool, 'generation'), 0)),
    ...poolCounts.flatMap(([name, least]) => checkLeast(at(pool, name), least)), ...(isGiven(node) ? checkText(node, checkDnsSubdomain) : []),
    ...(byteLength(toText(error.value)) > MAX_ERROR_BYTES ? [tooLong(error.path, MAX_ERROR_BYTES)] : []),
  ];
}

/** An answer is given once. */
function validateRequestStatus(request: KubeObject, old: KubeObject): Errors {
  const root = statusOf(request);
  if (isAnswered(old)) return equalJson(root.value, statusOf(old).value) ? [] : [invalidValue(root.path, root.value ?? null, 'field is immutable')];
  if (!isGiven(root)) return [];
  const [count, pools] = [at(root, 'poolCount'), at(root, 'pools')];
  return [
    ...checkList(at(root, 'conditions'), MAX_CONDITIONS, checkConditions), ...(isGiven(count) ? checkLeast(count, 0) : [required(count.path)]),
    ...checkList(pools, MAX_POOLS, (list) => each(list).flatMap(checkPoolStatus)),
  ];
}

/** The spec of ResourcePoolStatusRequest. */
export const resourcePoolStatusRequestKind: KindSpec = {
  kind: 'ResourcePoolStatusRequest', plural: 'resourcepoolstatusrequests', cluster: true, versions: ['v1alpha3'], returnsDeleted: true,
  unconditionalUpdate: false,
  subresources: [status],
  metadataChecks: ['update', 'kind'],
  resetFields: statusOnlyResets,
  columns: poolRequestColumns,
  strategy: prepareWithStatus({ keeps: allUserMetadata }),
  validation: { object: validateRequest, update: checkSameSpec, status: validateRequestStatus },
};
