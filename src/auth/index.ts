// The door of auth: the user of a request, and the decision about it.
export { type User, ANONYMOUS_NAME, findNodeName, MASTERS_GROUP } from './user.ts';
export { type Authenticate, createAuthenticator } from './authenticate/authenticate.ts';
export type { AuthenticateToken, ClientCertificate, TokenUse } from './authenticate/credentials.ts';
export { createBootstrapTokenAuthenticator } from './authenticate/bootstrap-token.ts';
export { createFrontProxy } from './authenticate/front-proxy.ts';
export { type SigningKey, type VerifyingKey, algorithmOf, jwtAlgorithms, keyIdOf, signJwt } from './authenticate/jwt.ts';
export { type OidcIssuer, type OidcObserver, createOidcAuthenticator } from './authenticate/oidc/oidc-authenticator.ts';
export { fetchDiscovery } from './authenticate/oidc/id-token.ts';
export { type ClaimMapping, type UserMapping } from './authenticate/oidc/claim-user.ts';
export {
  type ClaimExpression, type Claims, type ExpressionRule, compileClaimExpression, compileClaimRule, compileUserRule,
} from './authenticate/oidc/claim-expressions.ts';
export { type FindBoundObject, type ServiceAccountTokenUse, createServiceAccountAuthenticator } from './authenticate/service-account.ts';
export {
  type BoundReference, type SecretTokenAccount, encodeBoundClaims, encodeLegacyClaims, parseServiceAccountUsername,
} from './authenticate/service-account-claims.ts';
export { createWebhookTokenAuthenticator } from './authenticate/webhook-token.ts';
export { type Impersonate, createImpersonator, readImpersonation } from './impersonate.ts';
export { type StaticToken, createTokenAuthenticator, parseTokenFile } from './authenticate/token-file.ts';
export { type Attributes, type Authorize, type Decision, refuse } from './authorize/attributes.ts';
export { type AbacPolicies, readAbacPolicies } from './authorize/abac.ts';
export { readFieldSelector, readLabelSelector } from './authorize/selectors.ts';
export { type AuthorizationMode, authorizationModes, createAuthorizer } from './authorize/authorize.ts';
export { type PolicyRule, readRules } from './authorize/rule.ts';
export { PolicyIndex } from './authorize/policy-index.ts';
export { type ResolveRules, createRbacAuthorizer, resolveRules } from './authorize/rbac.ts';
export { type EscalationRules, createEscalationRules } from './authorize/escalation.ts';
export { findUncovered } from './authorize/cover.ts';
export { type NodeReads, createNodeAuthorizer, listReferences } from './authorize/node.ts';
export { createWebhookAuthorizer } from './authorize/webhook.ts';
export { type MatchRequest, compileMatchConditions } from './authorize/match-conditions.ts';
export { type ReviewSubject, reviewAccess } from './authorize/access-review.ts';
export { type RulesByMode, reviewRules } from './authorize/rules-review.ts';
export { createBootstrapPolicy } from './bootstrap/bootstrap-policy.ts';
export {
  type AuditDecision, type AuditLevel, type AuditStage, type EvaluateAuditPolicy, createAuditPolicy,
} from './audit/policy.ts';
export { readAuditPolicy } from './audit/read-policy.ts';
