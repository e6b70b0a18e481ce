// Reviews: questions about callers and rights that are asked by creating an object which nobody stores.
// SelfSubjectReview, TokenReview, and the SubjectAccessReview family, as authentication.k8s.io and authorization.k8s.io define them.
import { type FieldError, type KubeObject, badRequest, invalid } from '../apimachinery/index.ts';
import type { Attributes, Authenticate, Authorize, User } from '../auth/index.ts';
import type { Clock } from '../base/index.ts';
import type { SpecialCreate, SpecialRequest } from '../endpoints/index.ts';

interface ReviewDependencies {
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly clock: Clock;
}

interface ResourceAttributes {
  namespace?: string; verb?: string; group?: string; version?: string; resource?: string; subresource?: string; name?: string;
}
interface NonResourceAttributes {
  path?: string; verb?: string;
}
interface AccessSpec {
  resourceAttributes?: ResourceAttributes;
  nonResourceAttributes?: NonResourceAttributes;
  user?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]>;
}

/** The audience of tokens that name none. */
const defaultAudience = 'https://kubernetes.default.svc';

/** Handlers by `group/plural`. */
export function createReviews(deps: ReviewDependencies): ReadonlyMap<string, SpecialCreate> {
  return new Map<string, SpecialCreate>([
    ['authentication.k8s.io/selfsubjectreviews', async (request) => reviewSelf(request, deps.clock)],
    ['authentication.k8s.io/tokenreviews', (request) => reviewToken(request, deps.authenticate)],
    ['authorization.k8s.io/selfsubjectaccessreviews', (request) => reviewAccess(request, deps.authorize, 'self')],
    ['authorization.k8s.io/subjectaccessreviews', (request) => reviewAccess(request, deps.authorize, 'any')],
    ['authorization.k8s.io/localsubjectaccessreviews', (request) => reviewAccess(request, deps.authorize, 'local')],
  ]);
}

function reviewSelf({ object, context }: SpecialRequest, clock: Clock): KubeObject {
  const creationTimestamp = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return { ...object, metadata: { ...object.metadata, creationTimestamp }, status: { userInfo: describeUser(context.user) } };
}

function describeUser({ name, uid, groups, extra }: User): Record<string, unknown> {
  return { username: name, ...(uid !== undefined && { uid }), groups: [...groups], ...(extra !== undefined && { extra: { ...extra } }) };
}

async function reviewToken({ object }: SpecialRequest, authenticate: Authenticate): Promise<KubeObject> {
  const { token = '', audiences = [] } = (object['spec'] ?? {}) as { token?: string; audiences?: string[] };
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const found = /\s/.test(token) ? { type: 'refused' as const } : await authenticate({ authorization: `Bearer ${token}` });
  const accepted = audiences.length === 0 ? [defaultAudience] : audiences.filter((one) => one === defaultAudience);
  const status = found.type === 'refused' || accepted.length === 0
    ? { user: {}, error: 'invalid bearer token' } : { authenticated: true, user: describeUser(found.user), audiences: accepted };
  return { ...object, status };
}

type Subject = 'self' | 'any' | 'local';

async function reviewAccess({ object, target, context }: SpecialRequest, authorize: Authorize, subject: Subject): Promise<KubeObject> {
  const spec = (object['spec'] ?? {}) as AccessSpec;
  const errors = [...validateAttributes(spec, subject, target.namespace), ...validateSubject(spec, subject)];
  if (errors.length > 0) throw invalid({ group: target.resource.group, kind: '' }, '', errors);
  const user: User = subject === 'self' ? context.user : {
    name: spec.user ?? '', groups: spec.groups ?? [], ...(spec.uid !== undefined && { uid: spec.uid }), ...(spec.extra !== undefined && { extra: spec.extra }),
  };
  const decision = await authorize(readAttributes(spec, user));
  const status = {
    allowed: decision.type === 'allow', ...(decision.type === 'deny' && { denied: true }), ...(decision.reason !== '' && { reason: decision.reason }),
  };
  const metadata = subject === 'local' ? { ...object.metadata, namespace: target.namespace } : object.metadata;
  return { ...object, metadata, status };
}

const pathOf = (spec: AccessSpec): string => JSON.stringify({ Path: spec.nonResourceAttributes?.path ?? '', Verb: spec.nonResourceAttributes?.verb ?? '' });
const fault = (field: string, message: string): FieldError => ({ reason: 'FieldValueInvalid', field, message: `Invalid value: ${message}` });

function validateAttributes(spec: AccessSpec, subject: Subject, namespace: string): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (subject === 'local' && nonResourceAttributes !== undefined) {
    return [fault('spec.nonResourceAttributes', `${pathOf(spec)}: disallowed on this kind of request`)];
  }
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    return [fault('spec.nonResourceAttributes', `${pathOf(spec)}: cannot be specified in combination with resourceAttributes`)];
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    return [fault('spec.resourceAttributes', 'null: exactly one of nonResourceAttributes or resourceAttributes must be specified')];
  }
  const named = resourceAttributes?.namespace ?? '';
  return subject === 'local' && named !== namespace
    ? [fault('spec.resourceAttributes.namespace', `${JSON.stringify(named)}: must match metadata.namespace`)] : [];
}

function validateSubject(spec: AccessSpec, subject: Subject): FieldError[] {
  if (subject === 'self' || (spec.user ?? '') !== '' || (spec.groups ?? []).length > 0) return [];
  return [fault('spec.user', '"": at least one of user or group must be specified')];
}

function readAttributes({ resourceAttributes: resource, nonResourceAttributes: other }: AccessSpec, user: User): Attributes {
  return {
    user, isResource: resource !== undefined, verb: (resource ?? other)?.verb ?? '', group: resource?.group ?? '', version: resource?.version ?? '',
    namespace: resource?.namespace ?? '', resource: resource?.resource ?? '', subresource: resource?.subresource ?? '', name: resource?.name ?? '',
    path: other?.path ?? '',
  };
}
