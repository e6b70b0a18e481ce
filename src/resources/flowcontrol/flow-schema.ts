// flowcontrol.apiserver.k8s.io/v1 FlowSchema.
import {
  type FieldError, type KubeObject, checkDnsLabel, checkDnsSubdomain, equalJson, forbiddenField, invalidValue, notSupported, required,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, integerColumn, nameColumn, readCondition, textColumn, textOr } from '../common/columns/columns.ts';
import { ensureStruct, setZero } from '../common/defaults.ts';
import { keepUserMetadata, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkOneOf, checkRequired, checkText, each, isGiven, memberOf, textsOf } from '../common/validation/check.ts';
import { readPath, toList, toNumber, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { checkConditions, validateFlowControlStatus } from './conditions.ts';
import { formerFlowSchemas } from './former-versions.ts';
import { showSpec } from './structs.ts';

/** Columns of flowschemas. */
const flowSchemaColumns: readonly Column[] = [
  nameColumn,
  textColumn('PriorityLevel', 'spec', 'priorityLevelConfiguration', 'name'),
  { ...integerColumn('MatchingPrecedence', 'spec', 'matchingPrecedence'), type: 'string' },
  column('DistinguisherMethod', (object) => textOr(readPath(object, 'spec', 'distinguisherMethod', 'type'), '<none>')),
  ageColumn,
  column('MissingPL', (object) => textOr(readCondition(object, 'Dangling')?.['status'], '?')),
];

/** FlowSchemas print in the order of their matching precedence. */
function compareFlowSchemas(a: KubeObject, b: KubeObject): number {
  const precedence = (schema: KubeObject): number => toNumber(readPath(schema, 'spec', 'matchingPrecedence') ?? 0);
  return precedence(a) - precedence(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
}

/** Defaults of flowschemas. */
function applyFlowSchemaDefaults(flowSchema: KubeObject): void {
  setZero(ensureStruct(flowSchema, 'spec'), { matchingPrecedence: 1000 });
}

const MAX_PRECEDENCE = 10_000;
const verbs = ['get', 'list', 'create', 'update', 'delete', 'deletecollection', 'patch', 'watch', 'proxy'];

/** A list with a wildcard has no other entries. */
function checkWildcard(place: Field, what: string): Errors {
  const values = textsOf(place);
  return values.length > 1 && values.includes('*') ? [invalidValue(place.path, values, `if '*' is present, must not specify other ${what}`)] : [];
}

function checkVerbs(place: Field): Errors {
  const values = textsOf(place);
  if (values.length === 0) return [required(place.path, 'verbs must contain at least one value')];
  if (values.includes('*')) return checkWildcard(place, 'verbs');
  return values.every((verb) => verbs.includes(verb)) ? [] : [notSupported(place.path, values, verbs)];
}

function checkNamespaces(rule: Field): Errors {
  const place = at(rule, 'namespaces');
  const values = textsOf(place);
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
  if (textsOf(urls).length === 0) return [...errors, required(urls.path, 'nonResourceURLs must contain at least one value')];
  if (textsOf(urls).includes('*')) return [...errors, ...checkWildcard(urls, 'non-resource URLs')];
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
  if (precedence > MAX_PRECEDENCE) errors.push(invalidValue(path, value, `must not be greater than ${MAX_PRECEDENCE}`));
  if (precedence === 1 && name !== 'exempt') errors.push(invalidValue(path, value, "only the schema named 'exempt' may have matchingPrecedence 1"));
  return errors;
}

/** Validates flowschemas. */
function validateFlowSchema(flowSchema: KubeObject): Errors {
  const spec = memberOf(flowSchema, 'spec');
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
  if (fixed !== undefined && !equalJson(spec.value, fixed)) {
    errors.push(invalidValue('spec', showSpec('FlowSchemaSpec', spec.value), `spec of '${name}' must equal the fixed value`));
  }
  return [...errors, ...checkConditions(flowSchema)];
}

const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }));

/** The specs of the two mandatory flow schemas, which no client can change. */
const mandatorySchemas: Readonly<Record<string, unknown>> = {
  exempt: { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 1, rules: [{ subjects: groups('system:masters'), ...everything }] },
  'catch-all': {
    priorityLevelConfiguration: { name: 'catch-all' }, matchingPrecedence: MAX_PRECEDENCE, distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...everything }],
  },
};

/** The spec of FlowSchema. */
export const flowSchemaKind: KindSpec = {
  kind: 'FlowSchema', plural: 'flowschemas', cluster: true,
  formerVersions: formerFlowSchemas,
  tracksGeneration: true,
  subresources: [status],
  tableOrder: compareFlowSchemas,
  metadataChecks: ['object', 'kind'],
  resetFields: statusOnlyResets,
  columns: flowSchemaColumns,
  applyDefaults: applyFlowSchemaDefaults,
  strategy: keepUserMetadata,
  validation: { object: validateFlowSchema, status: validateFlowControlStatus },
};
