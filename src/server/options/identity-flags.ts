// The flags about identities: service accounts, front proxies, OpenID Connect, webhooks, spelled as kube-apiserver spells them.
import type { FlagRow } from './flag-table.ts';

/** The flags of authentication and authorization. */
export const identityFlags: readonly FlagRow[] = [
  { name: 'authentication-config', type: 'text', option: 'authenticationConfig', help: 'File with an AuthenticationConfiguration (apiserver.config.k8s.io).' },
  {
    name: 'authorization-config', type: 'text', option: 'authorizationConfig',
    help: 'File with an AuthorizationConfiguration (apiserver.config.k8s.io); instead of the other flags about authorization.',
  },
  {
    name: 'service-account-issuer', type: 'list', option: 'serviceAccountIssuers', default: 'https://kubernetes.default.svc',
    help: 'Issuers of service account tokens; the first one signs, all are accepted.',
  },
  { name: 'service-account-key-file', type: 'list', option: 'serviceAccountKeyFiles', help: 'Keys (PEM) that verify service account tokens.' },
  {
    name: 'service-account-signing-key-file', type: 'text', option: 'serviceAccountSigningKeyFile',
    help: 'Key (PEM) that signs service account tokens; by default one is generated.',
  },
  { name: 'service-account-jwks-uri', type: 'text', option: 'serviceAccountJwksUri', help: 'Where others find the public keys; by default on this server.' },
  { name: 'api-audiences', type: 'list', option: 'apiAudiences', help: 'Audiences of tokens for this API; by default the issuers of service account tokens.' },
  {
    name: 'service-account-max-token-expiration', type: 'duration', option: 'serviceAccountMaxTokenExpirationMs', default: '0s',
    help: 'Longest life of a service account token; 0: no bound.',
  },
  {
    name: 'service-account-extend-token-expiration', type: 'switch', option: 'serviceAccountExtendTokenExpiration', default: 'true',
    help: 'Let the tokens in pods live for a year.',
  },
  {
    name: 'enable-bootstrap-token-auth', type: 'switch', option: 'enableBootstrapTokenAuth', default: 'false',
    help: 'Accept bootstrap tokens (Secrets of type bootstrap.kubernetes.io/token in kube-system).',
  },
  {
    name: 'requestheader-client-ca-file', type: 'text', option: 'requestheaderClientCaFile',
    help: 'Authority of front proxies; only with its certificates are their headers believed.',
  },
  {
    name: 'requestheader-allowed-names', type: 'list', option: 'requestheaderAllowedNames',
    help: 'Common names of front proxies; by default all of the authority.',
  },
  {
    name: 'requestheader-username-headers', type: 'list', option: 'requestheaderUsernameHeaders', default: 'x-remote-user', help: 'Headers with the user name.',
  },
  { name: 'requestheader-uid-headers', type: 'list', option: 'requestheaderUidHeaders', default: 'x-remote-uid', help: 'Headers with the uid.' },
  { name: 'requestheader-group-headers', type: 'list', option: 'requestheaderGroupHeaders', default: 'x-remote-group', help: 'Headers with groups.' },
  {
    name: 'requestheader-extra-headers-prefix', type: 'list', option: 'requestheaderExtraHeadersPrefix', default: 'x-remote-extra-',
    help: 'Beginnings of headers with more about the user.',
  },
  { name: 'oidc-issuer-url', type: 'text', option: 'oidcIssuerUrl', help: 'OpenID Connect provider whose ID tokens are accepted (https).' },
  { name: 'oidc-client-id', type: 'text', option: 'oidcClientId', help: 'Audience that its tokens must name.' },
  { name: 'oidc-ca-file', type: 'text', option: 'oidcCaFile', help: 'Authority of the provider; by default those of the system.' },
  { name: 'oidc-username-claim', type: 'text', option: 'oidcUsernameClaim', default: 'sub', help: 'Claim with the user name.' },
  {
    name: 'oidc-username-prefix', type: 'text', option: 'oidcUsernamePrefix',
    help: 'What is put before user names; by default the issuer and #, except for the claim email; - for nothing.',
  },
  { name: 'oidc-groups-claim', type: 'text', option: 'oidcGroupsClaim', help: 'Claim with the groups.' },
  { name: 'oidc-groups-prefix', type: 'text', option: 'oidcGroupsPrefix', help: 'What is put before groups.' },
  { name: 'oidc-signing-algs', type: 'list', option: 'oidcSigningAlgs', default: 'RS256', help: 'Algorithms that its tokens may be signed with.' },
  { name: 'oidc-required-claim', type: 'list', option: 'oidcRequiredClaims', help: 'claim=value that its tokens must have.' },
  {
    name: 'authorization-webhook-config-file', type: 'text', option: 'authorizationWebhookConfigFile',
    help: 'Kubeconfig of the service that the Webhook mode asks.',
  },
  {
    name: 'authorization-webhook-version', type: 'text', option: 'authorizationWebhookVersion', default: 'v1beta1',
    help: 'Version of the SubjectAccessReviews that are sent: v1 or v1beta1.',
  },
  {
    name: 'authorization-webhook-cache-authorized-ttl', type: 'duration', option: 'authorizationWebhookCacheAuthorizedTtlMs', default: '5m0s',
    help: 'How long rights that the service gave are remembered.',
  },
  {
    name: 'authorization-webhook-cache-unauthorized-ttl', type: 'duration', option: 'authorizationWebhookCacheUnauthorizedTtlMs', default: '30s',
    help: 'How long refusals of the service are remembered.',
  },
  {
    name: 'authentication-token-webhook-config-file', type: 'text', option: 'authenticationTokenWebhookConfigFile',
    help: 'Kubeconfig of a service that judges bearer tokens.',
  },
  {
    name: 'authentication-token-webhook-version', type: 'text', option: 'authenticationTokenWebhookVersion', default: 'v1beta1',
    help: 'Version of the TokenReview that is sent to it: v1 or v1beta1.',
  },
  {
    name: 'authentication-token-webhook-cache-ttl', type: 'duration', option: 'authenticationTokenWebhookCacheTtlMs', default: '2m0s',
    help: 'How long its answers are kept.',
  },
];
