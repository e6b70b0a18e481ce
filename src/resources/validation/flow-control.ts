// Validation of flowschemas and prioritylevelconfigurations: whose requests go where, and how many run at once.
import {
  type FieldError, type KubeObject, checkDnsLabel, checkDnsSubdomain, duplicate, forbiddenField, invalidValue, notSupported, required,
} from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toText } from '../columns/common.ts';
import { type Errors, type Field, at, checkOneOf, checkRequired, checkText, each, isSame, isGiven } from './check.ts';

const maxPrecedence = 10_000;
const maxQueues = 10_000_000;
/** Bits of the hash that shuffle sharding deals hands from. */
const maxHashBits = 60;
const verbs = ['get', 'list', 'create', 'update', 'delete', 'deletecollection', 'patch', 'watch', 'proxy'];

const placeOf = (object: KubeObject, name: string): Field => ({ path: name, value: object[name] });
const texts = (place: Field): readonly string[] => toList(place.value).map(toText);

/** Conditions of a status: their types are given, and each once. */
function checkConditions(object: KubeObject): Errors {
  const known = new Set<string>();
  return each(at(placeOf(object, 'status'), 'conditions')).flatMap((condition): Errors => {
    const type = at(condition, 'type');
    const name = toText(type.value);
    const errors = [...(known.has(name) ? [duplicate(type.path, name)] : []), ...checkRequired(type)];
    known.add(name);
    return errors;
  });
}

/** Validates what the status path of flowschemas and prioritylevelconfigurations writes. */
export const validateFlowControlStatus = checkConditions;

/** A list that holds either the wildcard alone or anything else. */
function checkWildcard(place: Field, what: string): Errors {
  const values = texts(place);
  return values.length > 1 && values.includes('*') ? [invalidValue(place.path, values, `if '*' is present, must not specify other ${what}`)] : [];
}

function checkVerbs(place: Field): Errors {
  const values = texts(place);
  if (values.length === 0) return [required(place.path, 'verbs must contain at least one value')];
  if (values.includes('*')) return checkWildcard(place, 'verbs');
  return values.every((verb) => verbs.includes(verb)) ? [] : [notSupported(place.path, values, verbs)];
}

function checkNamespaces(rule: Field): Errors {
  const place = at(rule, 'namespaces');
  const values = texts(place);
  if (values.length === 0 && readPath(rule.value, 'clusterScope') !== true) {
    return [required(place.path, 'resource rules that are not cluster scoped must supply at least one namespace')];
  }
  if (values.includes('*')) return checkWildcard(place, 'namespaces');
  return each(place).flatMap(({ path, value }) =>
    checkDnsLabel(toText(value)).map((problem) => invalidValue(path, value, `each member of this list must be '*' or a DNS-1123 label; ${problem}`)));
}

function checkNames(place: Field, missing: string, what: string): Errors {
  return toList(place.value).length === 0 ? [required(place.path, missing)] : checkWildcard(place, what);
}

function checkResourceRule(rule: Field): Errors {
  return [
    ...checkVerbs(at(rule, 'verbs')),
    ...checkNames(at(rule, 'apiGroups'), 'resource rules must supply at least one api group', 'api groups'),
    ...checkNames(at(rule, 'resources'), 'resource rules must supply at least one resource', 'resources'),
    ...checkNamespaces(rule),
  ];
}

function findUrlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const stars = url.split('*').length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined;
}

function checkNonResourceRule(rule: Field): Errors {
  const urls = at(rule, 'nonResourceURLs');
  const errors: FieldError[] = [...checkVerbs(at(rule, 'verbs'))];
  if (texts(urls).length === 0) return [...errors, required(urls.path, 'nonResourceURLs must contain at least one value')];
  if (texts(urls).includes('*')) return [...errors, ...checkWildcard(urls, 'non-resource URLs')];
  for (const { path, value } of each(urls)) {
    const problem = findUrlProblem(toText(value));
    if (problem !== undefined) errors.push(invalidValue(path, value, problem));
  }
  return errors;
}

const members: Readonly<Record<string, string>> = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' };

function checkSubject(subject: Field): Errors {
  const kind = toText(readPath(subject.value, 'kind'));
  const own = Object.hasOwn(members, kind) ? members[kind] as string : '';
  if (own === '') return checkOneOf(at(subject, 'kind'), Object.keys(members));
  const place = at(subject, own);
  const missing = required(place.path, `${own} is required when subject kind is '${kind}'`);
  const errors: FieldError[] = isGiven(place) ? [...checkRequired(at(place, 'name'))] : [missing];
  if (isGiven(place) && own === 'serviceAccount') errors.push(...checkAccount(place));
  for (const [other, member] of Object.entries(members)) {
    if (other !== kind && isGiven(at(subject, member))) {
      errors.push(forbiddenField(at(subject, member).path, `${member} is forbidden when subject kind is not '${other}'`));
    }
  }
  return errors;
}

function checkAccount(account: Field): Errors {
  const name = at(account, 'name');
  const namespace = at(account, 'namespace');
  const hasName = toText(name.value) !== '' && name.value !== '*';
  return [
    ...(hasName ? checkText(name, checkDnsSubdomain) : []),
    ...(toText(namespace.value) === '' ? [required(namespace.path, 'must specify namespace for service account')] : checkText(namespace, checkDnsLabel)),
  ];
}

function checkRule(rule: Field): Errors {
  const subjects = at(rule, 'subjects');
  const resources = each(at(rule, 'resourceRules'));
  const others = each(at(rule, 'nonResourceRules'));
  return [
    ...(toList(subjects.value).length === 0 ? [required(subjects.path, 'subjects must contain at least one value')] : each(subjects).flatMap(checkSubject)),
    ...(resources.length + others.length === 0 ? [required(rule.path, 'at least one of resourceRules and nonResourceRules has to be non-empty')] : []),
    ...resources.flatMap(checkResourceRule), ...others.flatMap(checkNonResourceRule),
  ];
}

function checkPrecedence(spec: Field, name: string): Errors {
  const { path, value } = at(spec, 'matchingPrecedence');
  const precedence = toNumber(value);
  const errors: FieldError[] = [];
  if (precedence <= 0) errors.push(invalidValue(path, value, 'must be a positive value'));
  if (precedence > maxPrecedence) errors.push(invalidValue(path, value, `must not be greater than ${maxPrecedence}`));
  if (precedence === 1 && name !== 'exempt') errors.push(invalidValue(path, value, "only the schema named 'exempt' may have matchingPrecedence 1"));
  return errors;
}

/** Validates flowschemas. */
export function validateFlowSchema(flowSchema: KubeObject): Errors {
  const spec = placeOf(flowSchema, 'spec');
  const name = flowSchema.metadata.name ?? '';
  const method = at(spec, 'distinguisherMethod');
  const type = toText(readPath(method.value, 'type'));
  const level = at(spec, 'priorityLevelConfiguration', 'name');
  const errors: FieldError[] = [...checkPrecedence(spec, name)];
  // The reference prints the whole struct here.
  if (isGiven(method) && type !== 'ByUser' && type !== 'ByNamespace') {
    errors.push(notSupported(`${method.path}.type`, { Type: type }, ['ByNamespace', 'ByUser']));
  }
  errors.push(...(toText(level.value) === '' ? [required(level.path, 'must reference a priority level')] : checkText(level, checkDnsSubdomain)));
  errors.push(...each(at(spec, 'rules')).flatMap(checkRule));
  const fixed = Object.hasOwn(mandatorySchemas, name) ? mandatorySchemas[name] : undefined;
  if (fixed !== undefined && !isSame(spec.value, fixed)) errors.push(invalidValue('spec', spec.value, `spec of '${name}' must equal the fixed value`));
  return [...errors, ...checkConditions(flowSchema)];
}

const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }));

/** Specs that nobody can change. */
const mandatorySchemas: Readonly<Record<string, unknown>> = {
  exempt: { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 1, rules: [{ subjects: groups('system:masters'), ...everything }] },
  'catch-all': {
    priorityLevelConfiguration: { name: 'catch-all' }, matchingPrecedence: maxPrecedence, distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...everything }],
  },
};

function checkPercent({ path, value }: Field): Errors {
  return value !== undefined && !(toNumber(value) >= 0 && toNumber(value) <= 100) ? [invalidValue(path, value, 'must be between 0 and 100, inclusive')] : [];
}

function checkShares({ path, value }: Field): Errors {
  return toNumber(value ?? 0) < 0 ? [invalidValue(path, value, 'must be a non-negative integer')] : [];
}

/** Bits that dealing a hand takes. */
function countBits(queues: number, handSize: number): number {
  let bits = 0;
  for (let dealt = 0; dealt < handSize && bits <= maxHashBits; dealt++) bits += Math.log2(queues - dealt);
  return Math.ceil(bits);
}

function checkHand({ path, value }: Field, queues: number): Errors {
  const size = toNumber(value ?? 0);
  if (size <= 0) return [invalidValue(path, size, 'must be positive')];
  if (size > queues) return [invalidValue(path, size, `should not be greater than queues (${queues})`)];
  const tooRandom = `required entropy bits of deckSize ${queues} and handSize ${size} should not be greater than ${maxHashBits}`;
  return countBits(queues, size) > maxHashBits ? [invalidValue(path, size, tooRandom)] : [];
}

function checkQueuing(queuing: Field): Errors {
  const length = at(queuing, 'queueLengthLimit');
  const queues = at(queuing, 'queues');
  const count = toNumber(queues.value ?? 0);
  const errors: FieldError[] = toNumber(length.value ?? 0) <= 0 ? [invalidValue(length.path, length.value ?? 0, 'must be positive')] : [];
  if (count <= 0) errors.push(invalidValue(queues.path, count, 'must be positive'));
  else if (count > maxQueues) errors.push(invalidValue(queues.path, count, `must not be greater than ${maxQueues}`));
  return [...errors, ...checkHand(at(queuing, 'handSize'), count)];
}

function checkLimitResponse(response: Field): Errors {
  const queuing = at(response, 'queuing');
  const type = at(response, 'type');
  if (type.value === 'Reject') {
    return isGiven(queuing) ? [forbiddenField(queuing.path, 'must be nil if limited.limitResponse.type is not Limited')] : [];
  }
  if (type.value !== 'Queue') return checkOneOf(type, ['Queue', 'Reject']);
  return isGiven(queuing) ? checkQueuing(queuing) : [required(queuing.path, 'must not be empty if limited.limitResponse.type is Limited')];
}

function checkLimited(limited: Field): Errors {
  const borrowing = at(limited, 'borrowingLimitPercent');
  return [
    ...checkShares(at(limited, 'nominalConcurrencyShares')), ...checkLimitResponse(at(limited, 'limitResponse')),
    ...checkPercent(at(limited, 'lendablePercent')),
    ...(toNumber(borrowing.value ?? 0) < 0 ? [invalidValue(borrowing.path, borrowing.value, 'if specified, must be a non-negative integer')] : []),
  ];
}

function checkLevelType(spec: Field): Errors {
  const exempt = at(spec, 'exempt');
  const limited = at(spec, 'limited');
  const type = at(spec, 'type');
  if (type.value === 'Exempt') {
    return [
      ...(isGiven(limited) ? [forbiddenField(limited.path, 'must be nil if the type is not Limited')] : []),
      ...(isGiven(exempt) ? [...checkShares(at(exempt, 'nominalConcurrencyShares')), ...checkPercent(at(exempt, 'lendablePercent'))] : []),
    ];
  }
  if (type.value !== 'Limited') return checkOneOf(type, ['Exempt', 'Limited']);
  return [
    ...(isGiven(exempt) ? [forbiddenField(exempt.path, 'must be nil if the type is Limited')] : []),
    ...(isGiven(limited) ? checkLimited(limited) : [required(limited.path, 'must not be empty when type is Limited')]),
  ];
}

const catchAllLevel = { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 } };

function checkMandatoryLevel(name: string, spec: Field): Errors {
  if (name === 'catch-all' && !isSame(spec.value, catchAllLevel)) return [invalidValue('spec', spec.value, `spec of '${name}' must equal the fixed value`)];
  if (name !== 'exempt' || (readPath(spec.value, 'type') === 'Exempt' && !isGiven(at(spec, 'limited')))) return [];
  return [invalidValue('spec', spec.value, `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`)];
}

/** Validates prioritylevelconfigurations. */
export function validatePriorityLevel(level: KubeObject): Errors {
  const spec = placeOf(level, 'spec');
  const name = level.metadata.name ?? '';
  const type = at(spec, 'type');
  const isMismatch = (name === 'exempt') !== (type.value === 'Exempt');
  return [
    ...(isMismatch ? [invalidValue(type.path, type.value ?? '', "must be 'Exempt' if and only if `name` is 'exempt'")] : []),
    ...checkLevelType(spec), ...checkMandatoryLevel(name, spec), ...checkConditions(level),
  ];
}
