// Reviews: questions about callers and rights, asked by creating an object that is not stored.
// SelfSubjectReview, TokenReview, and the SubjectAccessReview family, as authentication.k8s.io and authorization.k8s.io define them.
import { type KubeObject, badRequest } from '../apimachinery/index.ts';
import {
  type Authenticate, type AuthorizationMode, type Authorize, type ReviewSubject, type RulesByMode, type User, reviewAccess, reviewRules,
} from '../auth/index.ts';
import type { Clock } from '../base/index.ts';
import type { SpecialCreate, SpecialRequest } from '../endpoints/index.ts';
import { formatTime, trackUpdate } from '../registry/index.ts';

interface ReviewDependencies {
  readonly authenticate: Authenticate;
  /** Audiences of tokens that name none. */
  readonly apiAudiences: readonly string[];
  readonly requestToken: SpecialCreate;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly modes: readonly AuthorizationMode[];
  readonly resolvers: RulesByMode;
}

/** Handlers by `group/plural`. */
export function createReviews(deps: ReviewDependencies): ReadonlyMap<string, SpecialCreate> {
  return new Map<string, SpecialCreate>([
    ['authentication.k8s.io/selfsubjectreviews', async (request) => reviewSelf(request, deps.clock)],
    ['authentication.k8s.io/tokenreviews', (request) => reviewToken(request, deps)],
    ['/serviceaccounts/token', deps.requestToken],
    ['authorization.k8s.io/selfsubjectaccessreviews', (request) => reviewRights(request, 'self', deps)],
    ['authorization.k8s.io/subjectaccessreviews', (request) => reviewRights(request, 'any', deps)],
    ['authorization.k8s.io/localsubjectaccessreviews', (request) => reviewRights(request, 'local', deps)],
    ['authorization.k8s.io/selfsubjectrulesreviews', async ({ object, context }) => reviewRules({ object, user: context.user }, deps.modes, deps.resolvers)],
  ]);
}

function reviewSelf({ object, context }: SpecialRequest, clock: Clock): KubeObject {
  const creationTimestamp = formatTime(clock.now());
  return { kind: object.kind, apiVersion: object.apiVersion, metadata: { creationTimestamp }, status: { userInfo: describeUser(context.user) } };
}

function describeUser({ name, uid, groups, extra }: User): Record<string, unknown> {
  return { username: name, ...(uid !== undefined && { uid }), groups: [...groups], ...(extra !== undefined && { extra: { ...extra } }) };
}

async function reviewToken(request: SpecialRequest, { authenticate, apiAudiences, clock }: ReviewDependencies): Promise<KubeObject> {
  const object = trackOwners(request, clock);
  const { token, audiences } = (object['spec'] ?? {}) as { token?: string | null; audiences?: string[] | null };
  if (!token) throw badRequest('token is required for TokenReview in authentication');
  // A space would end the token in a header.
  const asked = { authorization: `Bearer ${token}`, audiences: audiences && audiences.length > 0 ? audiences : apiAudiences };
  const found = /\s/.test(token) ? { type: 'refused' as const, reasons: [] } : await authenticate(asked);
  const { authenticated: _authenticated, ...given } = (object['status'] ?? {}) as { readonly authenticated?: boolean; readonly user?: object };
  // What the client sent as the status stays where the answer has nothing to say.
  if (found.type === 'user') {
    return { ...object, status: { ...given, authenticated: true, user: describeUser(found.user), audiences: [...found.audiences ?? []] } };
  }
  const reasons = found.reasons !== undefined && found.reasons.length > 0 ? found.reasons : ['invalid bearer token'];
  return { ...object, status: { ...given, user: { ...given.user }, error: reasons.length === 1 ? reasons[0] : `[${reasons.join(', ')}]` } };
}

/** The posted object with the owners of its fields: reviews are not stored, but their answers name them. */
function trackOwners({ object, target: { resource, version }, context }: SpecialRequest, clock: Clock): KubeObject {
  const managedFields = trackUpdate({ resource, version, subresource: '', manager: context.fieldManager, nowMs: clock.now(), old: undefined, object });
  return managedFields === undefined ? object : { ...object, metadata: { ...object.metadata, managedFields } };
}

async function reviewRights(request: SpecialRequest, subject: ReviewSubject, { authorize, clock }: ReviewDependencies): Promise<KubeObject> {
  const { target: { namespace }, context: { user } } = request;
  return reviewAccess({ object: trackOwners(request, clock), user, namespace, subject }, authorize);
}
