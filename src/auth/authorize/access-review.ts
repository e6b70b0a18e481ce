// The SubjectAccessReview family: validation and answer. The object that is posted is the question; its status is the answer.
// Mirrors authorization.k8s.io/v1 and the reference's texts.
import { type FieldError, type KubeObject, invalid, invalidValue, required } from '../../apimachinery/index.ts';
import type { User } from '../user.ts';
import type { Attributes, Authorize } from './attributes.ts';

interface Requirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}
interface Selector {
  readonly rawSelector?: string;
  readonly requirements?: readonly Requirement[];
}
interface ResourceAttributes {
  readonly namespace?: string; readonly verb?: string; readonly group?: string; readonly version?: string; readonly resource?: string;
  readonly subresource?: string; readonly name?: string; readonly fieldSelector?: Selector; readonly labelSelector?: Selector;
}
interface NonResourceAttributes {
  readonly path?: string; readonly verb?: string;
}
interface AccessSpec {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly user?: string; readonly uid?: string; readonly groups?: readonly string[]; readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Whose rights are asked about: one's own, anybody's, or anybody's within one namespace. */
export type ReviewSubject = 'self' | 'any' | 'local';

/** A review that was posted. */
interface AccessReview {
  readonly object: KubeObject;
  /** Who posted it. */
  readonly user: User;
  /** Of the path; '' for reviews that have none. */
  readonly namespace: string;
  readonly subject: ReviewSubject;
}

/** Answers a review; throws 422 with the reference's texts. */
export async function reviewAccess({ object, user, namespace, subject }: AccessReview, authorize: Authorize): Promise<KubeObject> {
  const spec = (object['spec'] ?? {}) as AccessSpec;
  const errors = [...validateSpec(spec, subject), ...validateMetadata(object, subject), ...validateNamespace(spec, subject, namespace)];
  if (errors.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors);
  const decision = await authorize(readAttributes(spec, subject === 'self' ? user : readUser(spec)));
  const status = {
    allowed: decision.type === 'allow', ...(decision.type === 'deny' && { denied: true }), ...(decision.reason !== '' && { reason: decision.reason }),
  };
  const metadata = subject === 'local' ? { ...object.metadata, namespace } : object.metadata;
  return { ...object, metadata, status };
}

function readUser({ user, groups, uid, extra }: AccessSpec): User {
  return { name: user ?? '', groups: groups ?? [], ...(uid !== undefined && { uid }), ...(extra !== undefined && { extra }) };
}

const pathOf = (spec: AccessSpec): string => JSON.stringify({ Path: spec.nonResourceAttributes?.path ?? '', Verb: spec.nonResourceAttributes?.verb ?? '' });
const fault = (field: string, message: string): FieldError => ({ reason: 'FieldValueInvalid', field, message: `Invalid value: ${message}` });

function validateSpec(spec: AccessSpec, subject: ReviewSubject): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const errors: FieldError[] = [];
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    errors.push(fault('spec.nonResourceAttributes', `${pathOf(spec)}: cannot be specified in combination with resourceAttributes`));
  } else if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    errors.push(fault('spec.resourceAttributes', 'null: exactly one of nonResourceAttributes or resourceAttributes must be specified'));
  }
  if (subject !== 'self' && (spec.user ?? '') === '' && (spec.groups ?? []).length === 0) {
    errors.push(fault('spec.user', '"": at least one of user or group must be specified'));
  }
  if (resourceAttributes === undefined) return errors;
  const { fieldSelector, labelSelector } = resourceAttributes;
  return [
    ...errors, ...validateSelector(fieldSelector, 'spec.resourceAttributes.fieldSelector'),
    ...validateSelector(labelSelector, 'spec.resourceAttributes.labelSelector'),
  ];
}

function validateSelector(selector: Selector | undefined, field: string): FieldError[] {
  if (selector === undefined) return [];
  const { rawSelector = '', requirements = [] } = selector;
  if (rawSelector !== '' && requirements.length > 0) {
    return [invalidValue(`${field}.rawSelector`, rawSelector, 'may not specified at the same time as requirements')];
  }
  if (rawSelector === '' && requirements.length === 0) {
    return [required(`${field}.requirements`, `when ${field} is specified, requirements or rawSelector is required`)];
  }
  return requirements.flatMap((one, index) => validateRequirement(one, `${field}.requirements[${index}]`));
}

function validateRequirement({ key = '', operator = '', values = [] }: Requirement, field: string): FieldError[] {
  const errors: FieldError[] = key === '' ? [required(`${field}.key`, 'must be specified')] : [];
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      errors.push({ reason: 'FieldValueForbidden', field: `${field}.values`, message: "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'" });
    }
  } else errors.push(invalidValue(`${field}.operator`, operator, 'not a valid selector operator'));
  return errors;
}

function validateMetadata({ metadata }: KubeObject, subject: ReviewSubject): FieldError[] {
  const allowed = new Set(subject === 'local' ? ['managedFields', 'namespace'] : ['managedFields']);
  const given = Object.entries(metadata).filter(([key, value]) => !allowed.has(key) && value !== '' && value !== null);
  if (given.length === 0) return [];
  return [invalidValue('metadata', Object.fromEntries(given), subject === 'local' ? 'must be empty except for namespace' : 'must be empty')];
}

function validateNamespace(spec: AccessSpec, subject: ReviewSubject, namespace: string): FieldError[] {
  if (subject !== 'local') return [];
  if (spec.nonResourceAttributes !== undefined) return [fault('spec.nonResourceAttributes', `${pathOf(spec)}: disallowed on this kind of request`)];
  const named = spec.resourceAttributes?.namespace ?? '';
  if (spec.resourceAttributes === undefined || named === namespace) return [];
  return [fault('spec.resourceAttributes.namespace', `${JSON.stringify(named)}: must match metadata.namespace`)];
}

/** A selector as the query of a request would spell it; what cannot be spelled restricts nothing. */
function spellSelector(selector: Selector | undefined): string {
  if (selector === undefined) return '';
  if (selector.rawSelector !== undefined && selector.rawSelector !== '') return selector.rawSelector;
  const terms: string[] = [];
  for (const { key = '', operator, values = [] } of selector.requirements ?? []) {
    if (operator === 'In') terms.push(values.length === 1 ? `${key}=${values[0] as string}` : `${key} in (${values.join(',')})`);
    else if (operator === 'NotIn') terms.push(values.length === 1 ? `${key}!=${values[0] as string}` : `${key} notin (${values.join(',')})`);
    else terms.push(operator === 'Exists' ? key : `!${key}`);
  }
  return terms.join(',');
}

function readAttributes({ resourceAttributes: resource, nonResourceAttributes: other }: AccessSpec, user: User): Attributes {
  return {
    user, isResource: resource !== undefined, verb: (resource ?? other)?.verb ?? '', group: resource?.group ?? '', version: resource?.version ?? '',
    namespace: resource?.namespace ?? '', resource: resource?.resource ?? '', subresource: resource?.subresource ?? '', name: resource?.name ?? '',
    path: other?.path ?? '', fieldSelector: spellSelector(resource?.fieldSelector), labelSelector: spellSelector(resource?.labelSelector),
  };
}
