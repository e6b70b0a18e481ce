// The door of auth: who is calling, and whether they may.
export {
  type User, anonymous, anonymousName, authenticatedGroup, markAuthenticated, mastersGroup, unauthenticatedGroup,
} from './user.ts';
export { type Authenticate, type AuthenticateToken, type Authentication, type Credentials, createAuthenticator } from './authenticate/authenticate.ts';
export { type StaticToken, createTokenAuthenticator, parseTokenFile } from './authenticate/token-file.ts';
export { type Attributes, type Authorize, type Decision, refuse } from './authorize/attributes.ts';
export { type AuthorizationMode, authorizationModes, createAuthorizer } from './authorize/authorize.ts';
