// AuthenticationConfiguration (apiserver.config.k8s.io) and the --oidc-* flags, read into trusted issuers. Mirrors the reference's validation of such
// files: claims or expressions, never both; an address as a name only where something asks whether it was verified.
import { checkPrefixedPath, loadPatternEngine, parseUrl } from '../../apimachinery/index.ts';
import {
  type ClaimExpression, type ClaimMapping, type Claims, type ExpressionRule, type OidcIssuer, type UserMapping, compileClaimExpression, compileClaimRule,
  compileUserRule, jwtAlgorithms,
} from '../../auth/index.ts';
import { parseAuthorities } from '../tls/client-certificate.ts';
import { ConfigReader, configVersions, parseConfigFile } from './config-file.ts';
import { readTextFile } from '../data-directory.ts';
import type { Routed } from '../webhooks/egress.ts';
import { JsonClient } from '../webhooks/json-client.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import type { ReloadObserver } from '../metrics/reload-metrics.ts';
import { type Followed, readFollowed } from './followed-files.ts';

/** An issuer, and how its other addresses are reached. */
export interface TrustedIssuer extends OidcIssuer {
  /** Sends a form and answers the JSON of a good answer; throws for others. */
  readonly postForm: (url: string, form: URLSearchParams, headers: Readonly<Record<string, string>>) => Promise<unknown>;
}

const callsOf = (client: JsonClient): Pick<TrustedIssuer, 'fetchText' | 'postForm'> => ({
  fetchText: (address, headers) => client.getText(address, headers), postForm: (...form) => client.postForm(...form),
});

/** What a file says. */
interface AuthenticationSettings {
  readonly issuers: readonly TrustedIssuer[];
  /** undefined: the flag decides. */
  readonly anonymous: boolean | { readonly paths: readonly string[] } | undefined;
}

const FLAG = '--authentication-config';
const MAX_ISSUERS = 64;
const kinds = { AuthenticationConfiguration: configVersions('v1', 'v1beta1', 'v1alpha1') };
const networks = ['controlplane', 'cluster'] as const;

/** Reads the file, and again whenever it changes. Throws StartError that names the fields. */
export function readAuthenticationConfiguration(
  options: ServerOptions & Routed, observer: ReloadObserver | undefined,
): Promise<Followed<AuthenticationSettings>> {
  return readFollowed({
    flag: FLAG, path: options.authenticationConfig, what: 'the authentication configuration', options, observer,
    read: (content, first) => readSettings(content, options, first),
  });
}

/** Access without credentials is decided at the start: a later file must say the same of it. */
async function readSettings(content: string, options: ServerOptions & Routed, first: AuthenticationSettings | undefined): Promise<AuthenticationSettings> {
  const reader = new ConfigReader(FLAG);
  const parsed = await parseConfigFile(FLAG, content, kinds);
  const file = reader.fields(parsed, '', ['apiVersion', 'kind', 'jwt', 'anonymous']);
  await loadPatternEngine();
  const rows = reader.list(file['jwt'], 'jwt');
  if (rows.length > MAX_ISSUERS) reader.report('jwt', `Too many: ${rows.length}: must have at most ${MAX_ISSUERS} items`);
  const [urls, discoveries] = [new Set<string>(), new Set<string>()];
  const issuers = rows.slice(0, MAX_ISSUERS).map((row, index) => {
    const path = `jwt[${index}]`;
    const issuer = readIssuer(row, { reader, path, options });
    if (urls.has(issuer.url)) reader.duplicate(`${path}.issuer.url`, issuer.url);
    if (issuer.discoveryUrl !== undefined && discoveries.has(issuer.discoveryUrl)) reader.duplicate(`${path}.issuer.discoveryURL`, issuer.discoveryUrl);
    urls.add(issuer.url);
    discoveries.add(issuer.discoveryUrl ?? '');
    return issuer;
  });
  const anonymous = readAnonymous(file['anonymous'], reader);
  if (anonymous !== undefined && !options.anonymousAuth) {
    reader.report('anonymous', 'Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file');
  }
  if (first !== undefined && JSON.stringify(first.anonymous) !== JSON.stringify(anonymous)) {
    reader.report('anonymous', 'Forbidden: changed from initial configuration file');
  }
  reader.finish();
  return { issuers, anonymous };
}

interface ConfigField {
  readonly reader: ConfigReader;
  readonly path: string;
}

function readIssuer(value: unknown, { reader, path, options }: ConfigField & { readonly options: ServerOptions & Routed }): TrustedIssuer {
  const jwt = reader.fields(value, path, ['issuer', 'claimMappings', 'claimValidationRules', 'userValidationRules']);
  const at = `${path}.issuer`;
  const issuer = reader.fields(jwt['issuer'], at, ['url', 'discoveryURL', 'certificateAuthority', 'audiences', 'audienceMatchPolicy', 'egressSelectorType']);
  const url = reader.requiredText(issuer['url'], `${at}.url`);
  const discoveryUrl = reader.text(issuer['discoveryURL'], `${at}.discoveryURL`);
  if (options.serviceAccountIssuers.includes(url)) {
    reader.invalid(`${at}.url`, url, `URL must not overlap with disallowed issuers: [${[...options.serviceAccountIssuers].sort().join(' ')}]`);
  }
  if (url !== '') checkUrl(url, { reader, path: `${at}.url` });
  const trim = (text: string) => text.replace(/\/+$/, '');
  if (discoveryUrl !== '' && trim(discoveryUrl) === trim(url)) reader.invalid(`${at}.discoveryURL`, discoveryUrl, 'discoveryURL must be different from URL');
  if (discoveryUrl !== '') checkUrl(discoveryUrl, { reader, path: `${at}.discoveryURL` });
  const network = networks.find((one) => one === issuer['egressSelectorType']);
  if (issuer['egressSelectorType'] && network === undefined) {
    reader.invalid(`${at}.egressSelectorType`, issuer['egressSelectorType'], 'egress selector must be either controlplane or cluster');
  }
  if (network !== undefined && !options.egress.isConfigured(network)) {
    reader.invalid(`${at}.egressSelectorType`, network, `egress lookup for ${JSON.stringify(network)} is not configured`);
  }
  const authorities = reader.text(issuer['certificateAuthority'], `${at}.certificateAuthority`);
  if (authorities !== '' && !isAuthority(authorities)) reader.report(`${at}.certificateAuthority`,
    'Invalid value: "<omitted>": holds no certificate that can be read');
  const audiences = readAudiences(issuer['audiences'], { reader, path: `${at}.audiences` });
  checkPolicy(reader.text(issuer['audienceMatchPolicy'], `${at}.audienceMatchPolicy`), audiences.length, { reader, path: `${at}.audienceMatchPolicy` });
  const client = new JsonClient(options.clock, {
    ...(authorities !== '' && { authorities }), ...(network !== undefined && { dial: options.egress[network] }),
  });
  const rules = readClaimRules(jwt['claimValidationRules'], { reader, path: `${path}.claimValidationRules` });
  return {
    url, audiences, ...(discoveryUrl !== '' && { discoveryUrl }), requiredClaims: rules.required, claimRules: rules.expressions,
    ...readMappings(jwt['claimMappings'], { reader, path: `${path}.claimMappings`, asksVerified: rules.asksVerified }),
    userRules: readUserRules(jwt['userValidationRules'], { reader, path: `${path}.userValidationRules` }),
    algorithms: jwtAlgorithms, ...callsOf(client),
  };
}

function checkUrl(text: string, { reader, path }: ConfigField): void {
  const url = parseUrl(text);
  if (typeof url === 'string') return reader.invalid(path, text, url);
  if (url.scheme !== 'https') reader.invalid(path, text, 'URL scheme must be https');
  if (url.user !== undefined) reader.invalid(path, text, 'URL must not contain a username or password');
  if (url.query !== '') reader.invalid(path, text, 'URL must not contain a query');
  if (url.fragment !== '') reader.invalid(path, text, 'URL must not contain a fragment');
}

function isAuthority(text: string): boolean {
  try {
    return parseAuthorities([text]).length > 0;
  } catch {
    return false;
  }
}

function readAudiences(value: unknown, { reader, path }: ConfigField): readonly string[] {
  const list = reader.list(value, path);
  if (list.length === 0) reader.required(path, `at least one ${path} is required`);
  const audiences = list.map((one, index) => reader.requiredText(one, `${path}[${index}]`));
  for (const [index, one] of audiences.entries()) if (audiences.indexOf(one) < index) reader.duplicate(`${path}[${index}]`, one);
  return audiences;
}

function checkPolicy(policy: string, audiences: number, { reader, path }: ConfigField): void {
  if (audiences > 1 && policy !== 'MatchAny') reader.invalid(path, policy, 'audienceMatchPolicy must be MatchAny for multiple audiences');
  if (audiences === 1 && policy !== '' && policy !== 'MatchAny') reader.invalid(path, policy,
    'audienceMatchPolicy must be empty or MatchAny for single audience');
}

function readClaimRules(value: unknown, { reader, path }: ConfigField) {
  const required: { readonly claim: string; readonly value: string }[] = [];
  const expressions: ExpressionRule<Claims>[] = [];
  const seen = new Set<string>();
  let asksVerified = false;
  for (const [index, row] of reader.list(value, path).entries()) {
    const at = `${path}[${index}]`;
    const fields = reader.fields(row, at, ['claim', 'requiredValue', 'expression', 'message']);
    const read = (name: string) => reader.text(fields[name], `${at}.${name}`);
    const [claim, requiredValue, expression, message] = [read('claim'), read('requiredValue'), read('expression'), read('message')];
    if (claim !== '' && expression !== '') reader.invalid(at, claim, "claim and expression can't both be set");
    else if (claim === '' && expression === '') reader.required(at, 'claim or expression is required');
    else if (seen.has(`${claim} ${expression}`)) reader.duplicate(claim !== '' ? `${at}.claim` : `${at}.expression`, claim || expression);
    else if (claim !== '') {
      if (message !== '') reader.invalid(`${at}.message`, message, 'may not be specified when claim is set');
      required.push({ claim, value: requiredValue });
    } else {
      if (requiredValue !== '') reader.invalid(`${at}.requiredValue`, requiredValue, 'may not be specified when expression is set');
      const rule = reader.compile(expression, `${at}.expression`, (text) => compileClaimRule(text, message));
      if (rule !== undefined) expressions.push(rule);
      asksVerified ||= rule?.selects('email_verified') === true;
    }
    seen.add(`${claim} ${expression}`);
  }
  return { required, expressions, asksVerified };
}

function readUserRules(value: unknown, { reader, path }: ConfigField): NonNullable<UserMapping['userRules']> {
  const seen = new Set<string>();
  return reader.list(value, path).flatMap((row, index) => {
    const at = `${path}[${index}]`;
    const fields = reader.fields(row, at, ['expression', 'message']);
    const expression = reader.requiredText(fields['expression'], `${at}.expression`);
    const message = reader.text(fields['message'], `${at}.message`);
    if (expression === '') return [];
    if (seen.has(expression)) reader.duplicate(`${at}.expression`, expression);
    seen.add(expression);
    return reader.compile(expression, `${at}.expression`, (text) => compileUserRule(text, message)) ?? [];
  });
}

function readMappings(value: unknown, { reader, path, asksVerified }: ConfigField & { readonly asksVerified: boolean }): UserMapping {
  const mappings = reader.fields(value, path, ['username', 'groups', 'uid', 'extra']);
  const username = readMapping(mappings['username'], { reader, path: `${path}.username` });
  if (username === undefined) reader.required(`${path}.username`, 'claim or expression is required');
  const groups = readMapping(mappings['groups'], { reader, path: `${path}.groups` });
  const uid = readUid(mappings['uid'], { reader, path: `${path}.uid` });
  const extra = readExtra(mappings['extra'], { reader, path: `${path}.extra` });
  const readers = [username, ...extra.map((one) => one.value)].filter((one): one is ClaimExpression => one !== undefined && 'selects' in one);
  if (username !== undefined && 'selects' in username && username.selects('email') && !asksVerified && !readers.some((one) => one.selects('email_verified'))) {
    const { expression } = mappings['username'] as Readonly<Record<string, unknown>>;
    reader.invalid(`${path}.username.expression`, expression, 'claims.email_verified must be used in claimMappings.username.expression or '
      + 'claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression');
  }
  return { username: username ?? { claim: '', prefix: '' }, ...(groups !== undefined && { groups }), ...(uid !== undefined && { uid }), extra };
}

function readMapping(value: unknown, { reader, path }: ConfigField): ClaimMapping | ClaimExpression | undefined {
  const mapping = reader.fields(value, path, ['claim', 'prefix', 'expression']);
  const [claim, expression] = [reader.text(mapping['claim'], `${path}.claim`), reader.text(mapping['expression'], `${path}.expression`)];
  const prefix = mapping['prefix'] ?? undefined;
  if (claim !== '' && expression !== '') reader.invalid(path, '', "claim and expression can't both be set");
  else if (expression !== '') {
    if (prefix !== undefined) reader.invalid(`${path}.prefix`, prefix, 'may not be specified when expression is set');
    // An expression that cannot be compiled is reported; any name stands for it, so that nothing else is said to be missing.
    return reader.compile(expression, `${path}.expression`, compileClaimExpression) ?? { claim: 'sub', prefix: '' };
  } else if (claim !== '' && prefix === undefined) {
    reader.required(`${path}.prefix`, 'prefix is required when claim is set. It can be set to an empty string to disable prefixing');
  }
  return claim === '' ? undefined : { claim, prefix: reader.text(prefix, `${path}.prefix`) };
}

function readUid(value: unknown, { reader, path }: ConfigField): string | ClaimExpression | undefined {
  const uid = reader.fields(value, path, ['claim', 'expression']);
  const [claim, expression] = [reader.text(uid['claim'], `${path}.claim`), reader.text(uid['expression'], `${path}.expression`)];
  if (claim !== '' && expression !== '') reader.invalid(path, '', "claim and expression can't both be set");
  if (expression !== '') return reader.compile(expression, `${path}.expression`, compileClaimExpression);
  return claim === '' ? undefined : claim;
}

const reserved = /(?:^|\.)(?:kubernetes\.io|k8s\.io)$/;

function readExtra(value: unknown, { reader, path }: ConfigField): NonNullable<UserMapping['extra']> {
  const seen = new Set<string>();
  return reader.list(value, path).flatMap((row, index) => {
    const at = `${path}[${index}]`;
    const fields = reader.fields(row, at, ['key', 'valueExpression']);
    const key = reader.text(fields['key'], `${at}.key`);
    checkExtraKey(key, { reader, path: `${at}.key` });
    if (seen.has(key)) reader.duplicate(`${at}.key`, key);
    seen.add(key);
    const expression = reader.requiredText(fields['valueExpression'], `${at}.valueExpression`);
    const compiled = expression === '' ? undefined : reader.compile(expression, `${at}.valueExpression`, compileClaimExpression);
    return compiled === undefined ? [] : [{ key, value: compiled }];
  });
}

function checkExtraKey(key: string, { reader, path }: ConfigField): void {
  const domain = key.slice(0, Math.max(key.indexOf('/'), 0));
  for (const { field, message } of checkPrefixedPath(path, key)) reader.report(field, message);
  if (key !== key.toLowerCase()) reader.invalid(path, key, 'must be lowercase');
  if (reserved.test(domain)) reader.invalid(path, key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use');
}

function readAnonymous(value: unknown, reader: ConfigReader): AuthenticationSettings['anonymous'] {
  if (value === undefined || value === null) return undefined;
  const anonymous = reader.fields(value, 'anonymous', ['enabled', 'conditions']);
  const paths = reader.list(anonymous['conditions'], 'anonymous.conditions').map((one, index) => {
    const path = `anonymous.conditions[${index}]`;
    return reader.text(reader.fields(one, path, ['path'])['path'], `${path}.path`);
  });
  const enabled = reader.boolean(anonymous['enabled'], 'anonymous.enabled', false);
  if (!enabled && paths.length > 0) reader.invalid('anonymous.conditions', paths, 'enabled should be set to true when conditions are defined');
  return enabled && paths.length > 0 ? { paths } : enabled;
}

/** The issuer that the --oidc-* flags describe. */
export function readOidcFlags(options: ServerOptions): TrustedIssuer {
  const { oidcIssuerUrl: url, oidcUsernameClaim, oidcUsernamePrefix, oidcCaFile } = options;
  const unknown = options.oidcSigningAlgs.find((name) => !jwtAlgorithms.includes(name));
  if (unknown !== undefined) throw new StartError(`--oidc-signing-algs: ${JSON.stringify(unknown)} is not one of ${jwtAlgorithms.join(', ')}`);
  const implied = oidcUsernameClaim === 'email' ? '' : `${url}#`;
  const prefix = oidcUsernamePrefix === '-' ? '' : oidcUsernamePrefix === '' ? implied : oidcUsernamePrefix;
  const authorities = oidcCaFile === '' ? undefined : readTextFile('--oidc-ca-file', oidcCaFile);
  const client = new JsonClient(options.clock, { authorities });
  return {
    url, audiences: [options.oidcClientId], username: { claim: oidcUsernameClaim, prefix }, algorithms: options.oidcSigningAlgs,
    ...(options.oidcGroupsClaim !== '' && { groups: { claim: options.oidcGroupsClaim, prefix: options.oidcGroupsPrefix } }),
    requiredClaims: options.oidcRequiredClaims.map((one) => ({ claim: one.slice(0, one.indexOf('=')), value: one.slice(one.indexOf('=') + 1) })),
    ...callsOf(client),
  };
}
