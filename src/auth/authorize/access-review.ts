// The SubjectAccessReview family: validation and answer. The object that is posted is the question; its status is the answer.
// Mirrors authorization.k8s.io/v1 and the reference's texts.
import {
  type FieldError, type KubeObject, checkLabelValue, checkQualifiedName, forbiddenField, invalid, invalidValue, required,
} from '../../apimachinery/index.ts';
import type { User } from '../user.ts';
import type { Attributes, Authorize } from './attributes.ts';
import {
  type RequestSelector, type SelectorRequirement, isFieldRequirement, isLabelRequirement, readFieldSelector, readLabelSelector, understandRequirements,
} from './selectors.ts';

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

/** The user of a review: the caller, any user, or any user within one namespace. */
export type ReviewSubject = 'self' | 'any' | 'local';

/** A review that was posted. */
interface AccessReview {
  readonly object: KubeObject;
  /** The caller. */
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
  const attributes = readAttributes(spec, subject === 'self' ? user : readUser(spec));
  const decision = await authorize(attributes);
  const evaluationError = describeProblems(attributes) || (decision.error ?? '');
  const status = {
    allowed: decision.type === 'allow', ...(decision.type === 'deny' && { denied: true }), ...(decision.reason !== '' && { reason: decision.reason }),
    ...(evaluationError !== '' && { evaluationError }),
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
    ...errors, ...validateSelector(fieldSelector, 'spec.resourceAttributes.fieldSelector', validateFieldRequirement),
    ...validateSelector(labelSelector, 'spec.resourceAttributes.labelSelector', validateLabelRequirement),
  ];
}

function validateSelector(
  selector: Selector | undefined, field: string, validateRequirement: (requirement: Requirement, field: string) => FieldError[],
): FieldError[] {
  if (selector === undefined) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const errors: FieldError[] = [];
  if (rawSelector !== '' && requirements.length > 0) {
    errors.push(invalidValue(`${field}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'));
  }
  if (rawSelector === '' && requirements.length === 0) {
    return [required(`${field}.requirements`, `when ${field} is specified, requirements or rawSelector is required`)];
  }
  return [...errors, ...requirements.flatMap((one, index) => validateRequirement(one, `${field}.requirements[${index}]`))];
}

function validateFieldRequirement(requirement: Requirement, field: string): FieldError[] {
  return [...(requirement.key ? [] : [required(`${field}.key`, 'must be specified')]), ...validateValueCount(requirement, field)];
}

function validateLabelRequirement(requirement: Requirement, field: string): FieldError[] {
  const { key = '', values = [] } = requirement;
  return [
    ...validateValueCount(requirement, field), ...checkQualifiedName(key).map((problem) => invalidValue(`${field}.key`, key, problem)),
    ...values.flatMap((value, index) => checkLabelValue(value).map((problem) => invalidValue(`${field}.values[${index}]`, value, problem))),
  ];
}

/** Operators that this server does not know may come from newer clients: they are ignored, and the answer says so. */
function validateValueCount({ operator, values = [] }: Requirement, field: string): FieldError[] {
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    return [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  const hasNoValues = operator === 'Exists' || operator === 'DoesNotExist';
  return hasNoValues && values.length > 0 ? [forbiddenField(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")] : [];
}

/** The members of metadata that a review can have, as Go's encoder orders them. */
const metadataOrder = ['name', 'generateName', 'namespace', 'resourceVersion', 'generation', 'labels', 'annotations', 'ownerReferences', 'finalizers',
  'managedFields'];

function validateMetadata({ metadata }: KubeObject, subject: ReviewSubject): FieldError[] {
  const given = Object.entries(metadata).filter(([, value]) => value !== '' && value !== null && value !== undefined)
    .sort(([one], [other]) => metadataOrder.indexOf(one) - metadataOrder.indexOf(other));
  const allowed = subject === 'local' ? ['managedFields', 'namespace'] : ['managedFields'];
  if (given.every(([key]) => allowed.includes(key))) return [];
  return [invalidValue('metadata', Object.fromEntries(given), subject === 'local' ? 'must be empty except for namespace' : 'must be empty')];
}

function validateNamespace(spec: AccessSpec, subject: ReviewSubject, namespace: string): FieldError[] {
  if (subject !== 'local') return [];
  const errors: FieldError[] = [];
  const named = spec.resourceAttributes?.namespace ?? '';
  if (spec.resourceAttributes !== undefined && named !== namespace) {
    errors.push(fault('spec.resourceAttributes.namespace', `${JSON.stringify(named)}: must match metadata.namespace`));
  }
  if (spec.nonResourceAttributes !== undefined) {
    errors.push(fault('spec.nonResourceAttributes', `${pathOf(spec)}: disallowed on this kind of request`));
  }
  return errors;
}

/** Says which selectors were ignored, in whole or in part. */
function describeProblems({ fieldSelector, labelSelector }: Attributes): string {
  const texts: string[] = [];
  for (const [name, selector] of [['fieldSelector', fieldSelector?.()], ['labelSelector', labelSelector?.()]] as const) {
    if (selector?.hasProblem !== true) continue;
    texts.push(`spec.resourceAttributes.${name} ${selector.requirements.length > 0 ? 'partially ignored' : 'ignored'} due to parse error`);
  }
  return texts.join('; ');
}

interface SelectorReading {
  readonly read: (text: string) => RequestSelector;
  readonly isUnderstood: (requirement: SelectorRequirement) => boolean;
}

/** The selector of a review; absent when the review has none. */
function readSelector(selector: Selector | undefined, { read, isUnderstood }: SelectorReading): (() => RequestSelector) | undefined {
  if (selector === undefined) return undefined;
  const { rawSelector = '', requirements = [] } = selector;
  const parsed = requirements.length === 0 ? read(rawSelector)
    : understandRequirements(requirements.map(({ key = '', operator = '', values }) => ({ key, operator, ...(values?.length && { values }) })), isUnderstood);
  return () => parsed;
}

function readAttributes({ resourceAttributes: resource, nonResourceAttributes: other }: AccessSpec, user: User): Attributes {
  const fieldSelector = readSelector(resource?.fieldSelector, { read: readFieldSelector, isUnderstood: isFieldRequirement });
  const labelSelector = readSelector(resource?.labelSelector, { read: readLabelSelector, isUnderstood: isLabelRequirement });
  return {
    user, isResource: resource !== undefined, verb: (resource ?? other)?.verb ?? '', group: resource?.group ?? '',
    // A review that names no version asks about all of them.
    version: resource === undefined ? '' : resource.version || '*',
    namespace: resource?.namespace ?? '', resource: resource?.resource ?? '', subresource: resource?.subresource ?? '', name: resource?.name ?? '',
    path: other?.path ?? '', ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }),
  };
}
