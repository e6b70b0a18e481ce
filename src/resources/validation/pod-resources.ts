// Validation of what a container asks for and may use.
import { type FieldError, checkQualifiedName, forbiddenField, invalidValue, required } from '../../apimachinery/index.ts';
import { type Errors, type Place, at, checkText } from './check.ts';
import { checkNatural, checkWhole, compareAt, entriesOf, quantityAt, showQuantity } from './quantities.ts';

type Entry = Place & { readonly name: string };

const hugePrefix = 'hugepages-';
const containerNames = ['cpu', 'memory', 'ephemeral-storage'];
/** Standard names of resources, whatever they are for. */
const otherNames = ['storage', 'pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets', 'configmaps', 'persistentvolumeclaims'];

const isHuge = (name: string): boolean => name.startsWith(hugePrefix);
const isNative = (name: string): boolean => !name.includes('/') || name.split('/')[0]?.endsWith('kubernetes.io') === true;
const canOvercommit = (name: string): boolean => isNative(name) && !isHuge(name);

function checkName({ path, name }: Entry): Errors {
  const problems = checkText({ path, value: name }, checkQualifiedName);
  if (problems.length > 0 || name.includes('/')) return problems;
  const isForContainers = containerNames.includes(name) || isHuge(name);
  return [
    ...(isForContainers || otherNames.includes(name) ? [] : [invalidValue(path, name, 'must be a standard resource type or fully qualified')]),
    ...(isForContainers ? [] : [invalidValue(path, name, 'must be a standard resource for containers')]),
  ];
}

const checkValue = (entry: Entry): Errors => [...checkNatural(entry), ...(isNative(entry.name) ? [] : checkWhole(entry))];

function countUnits(place: Place): bigint {
  const { mantissa, exponent } = quantityAt(place);
  return exponent < 0 ? 0n : mantissa * 10n ** BigInt(exponent);
}

function checkPages(entry: Entry): Errors {
  if (!isHuge(entry.name)) return [];
  const size = { path: '', value: entry.name.slice(hugePrefix.length) };
  try {
    const [pages, page] = [countUnits(entry), countUnits(size)];
    if (page > 0n && pages % page === 0n) return [];
  } catch {
    // A page size that is no quantity divides nothing.
  }
  return [invalidValue(entry.path, showQuantity(entry), `${showQuantity(entry)} is not positive integer multiple of ${entry.name}`)];
}

function checkRequest(request: Entry, limits: Place): Errors {
  const limit = at(limits, request.name);
  const requests = request.path.slice(0, request.path.lastIndexOf('['));
  if (limit.value === undefined) return canOvercommit(request.name) ? [] : [required(limits.path, 'Limit must be set for non overcommitable resources')];
  const order = compareAt(request, limit);
  const isExact = !canOvercommit(request.name);
  if (isExact ? order === 0 : order <= 0) return [];
  const relation = isExact ? 'must be equal to' : 'must be less than or equal to';
  return [invalidValue(requests, showQuantity(request), `${relation} ${request.name} limit of ${showQuantity(limit)}`)];
}

/** Validates `resources` of a container. */
export function checkResources(resources: Place): Errors {
  const limits = at(resources, 'limits');
  const [limited, requested] = [entriesOf(limits), entriesOf(at(resources, 'requests'))];
  const errors: FieldError[] = limited.flatMap((entry) => [...checkName(entry), ...checkValue(entry), ...checkPages(entry)]);
  for (const entry of requested) {
    const problems = checkName(entry);
    errors.push(...problems, ...checkValue(entry), ...(problems.length > 0 ? [] : checkRequest(entry, limits)), ...checkPages(entry));
  }
  const names = [...limited, ...requested].map(({ name }) => name);
  const isBare = names.some(isHuge) && !names.some((name) => name === 'cpu' || name === 'memory');
  return isBare ? [...errors, forbiddenField(resources.path, 'HugePages require cpu or memory')] : errors;
}
