// The door of auth: who is calling, and whether they may.
export {
  type User, anonymous, anonymousName, authenticatedGroup, markAuthenticated, mastersGroup, unauthenticatedGroup,
} from './user.ts';
export {
  type Authenticate, type AuthenticateToken, type Authentication, type ClientCertificate, type Credentials, type TokenAnswer, createAuthenticator,
} from './authenticate/authenticate.ts';
export { createBootstrapTokenAuthenticator } from './authenticate/bootstrap-token.ts';
export { type FrontProxyOptions, createFrontProxy } from './authenticate/front-proxy.ts';
export { type SigningKey, type VerifyingKey, algorithmOf, jwtAlgorithms, keyIdOf, signJwt } from './authenticate/jwt.ts';
export { type OidcIssuer, type OidcOptions, createOidcAuthenticator } from './authenticate/oidc.ts';
export { type ClaimMapping, type UserMapping } from './authenticate/claim-user.ts';
export {
  type ClaimExpression, type Claims, type ExpressionRule, compileClaimExpression, compileClaimRule, compileUserRule,
} from './authenticate/claim-expressions.ts';
export { type FindBoundObject, type ServiceAccountTokenOptions, createServiceAccountAuthenticator } from './authenticate/service-account.ts';
export {
  type BoundClaims, type BoundReference, type SecretTokenAccount, encodeBoundClaims, encodeLegacyClaims,
  parseServiceAccountUsername, serviceAccountGroups, serviceAccountUsername,
} from './authenticate/service-account-claims.ts';
export { type WebhookTokenOptions, createWebhookTokenAuthenticator } from './authenticate/webhook-token.ts';
export { type Impersonate, type WantedUser, createImpersonator, readImpersonation } from './impersonate.ts';
export { type StaticToken, createTokenAuthenticator, parseTokenFile } from './authenticate/token-file.ts';
export { type Attributes, type Authorize, type Decision, refuse } from './authorize/attributes.ts';
export { type AuthorizationMode, type Authorizers, authorizationModes, createAuthorizer } from './authorize/authorize.ts';
export { type PolicyRule, type RoleRef, type Subject, readRules } from './authorize/rule.ts';
export { PolicyIndex, type PolicyIndexOptions } from './authorize/policy-index.ts';
export { type ResolveRules, type ResolvedRules, createRbacAuthorizer, resolveRules } from './authorize/rbac.ts';
export { type EscalationRules, createEscalationRules } from './authorize/escalation.ts';
export { findUncovered } from './authorize/cover.ts';
export { type FindObject, type ListPods, createNodeAuthorizer, nodeOfUser } from './authorize/node.ts';
export { type SendReview, type WebhookOptions, createWebhookAuthorizer } from './authorize/webhook.ts';
export { type MatchRequest, compileMatchConditions } from './authorize/match-conditions.ts';
export { type AccessReview, type ReviewSubject, reviewAccess } from './authorize/access-review.ts';
export { reviewRules } from './authorize/rules-review.ts';
export { type BootstrapPolicy, createBootstrapPolicy } from './bootstrap/notation.ts';
