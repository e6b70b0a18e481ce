// AuthenticationConfiguration (apiserver.config.k8s.io) and the --oidc-* flags, read into trusted issuers. Expressions are refused by name: nothing
// in such a file is ever passed over in silence.
import { type ClaimMapping, type OidcIssuer, jwtAlgorithms } from '../auth/index.ts';
import { parseYaml } from '../codec/index.ts';
import { readTextFile } from './data-directory.ts';
import { fetchJson } from './fetch-json.ts';
import { type ServerOptions, StartError } from './options.ts';

/** What a file says. */
export interface AuthenticationConfiguration {
  readonly issuers: readonly OidcIssuer[];
  /** undefined: the flag decides. */
  readonly anonymous: boolean | { readonly paths: readonly string[] } | undefined;
}

const flag = '--authentication-config';
const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`);

type Fields = Readonly<Record<string, unknown>>;

/** Reads the file. Throws StartError that names the field. */
export async function readAuthenticationConfiguration(options: ServerOptions): Promise<AuthenticationConfiguration> {
  const file = await parseFile(readTextFile(flag, options.authenticationConfig));
  checkFields(file, '', ['apiVersion', 'kind', 'jwt', 'anonymous']);
  if (file['kind'] !== 'AuthenticationConfiguration' || !versions.includes(String(file['apiVersion']))) {
    throw new StartError(`${flag}: not an AuthenticationConfiguration of ${versions.join(', ')}`);
  }
  const issuers = toList(file['jwt'], 'jwt').map((one, index) => readIssuer(one, `jwt[${index}]`));
  const urls = new Set(issuers.map(({ url }) => url));
  if (urls.size < issuers.length) throw new StartError(`${flag}: jwt: two issuers have the same url`);
  const own = issuers.find(({ url }) => options.serviceAccountIssuers.includes(url));
  if (own !== undefined) throw new StartError(`${flag}: jwt: ${own.url} is the issuer of service account tokens`);
  return { issuers, anonymous: readAnonymous(file['anonymous']) };
}

async function parseFile(text: string): Promise<Fields> {
  try {
    const { value, duplicates } = await parseYaml(new TextEncoder().encode(text));
    if (duplicates.length > 0) throw new StartError(`${flag}: a field is given twice`);
    return toFields(value, '');
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

function toFields(value: unknown, path: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new StartError(`${flag}: ${path === '' ? 'the file' : path} must be an object`);
}

function toList(value: unknown, path: string): readonly Fields[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new StartError(`${flag}: ${path} must be a list`);
  return value.map((one, index) => toFields(one, `${path}[${index}]`));
}

function checkFields(fields: Fields, path: string, known: readonly string[]): void {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  for (const name of Object.keys(fields)) {
    if (name === 'expression' || name === 'messageExpression') {
      throw new StartError(`${flag}: ${at(name)}: expressions are not supported; use claim and prefix`);
    }
    if (!known.includes(name)) throw new StartError(`${flag}: ${at(name)} is not supported`);
  }
}

function toText(value: unknown, path: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw new StartError(`${flag}: ${path} must be a text`);
  return value;
}

function readIssuer(jwt: Fields, path: string): OidcIssuer {
  checkFields(jwt, path, ['issuer', 'claimMappings', 'claimValidationRules', 'userValidationRules']);
  if (toList(jwt['userValidationRules'], `${path}.userValidationRules`).length > 0) {
    throw new StartError(`${flag}: ${path}.userValidationRules: expressions are not supported`);
  }
  const issuer = toFields(jwt['issuer'], `${path}.issuer`);
  checkFields(issuer, `${path}.issuer`, ['url', 'discoveryURL', 'certificateAuthority', 'audiences', 'audienceMatchPolicy']);
  const url = toText(issuer['url'], `${path}.issuer.url`);
  const discoveryUrl = toText(issuer['discoveryURL'], `${path}.issuer.discoveryURL`);
  for (const [name, value] of [['url', url], ['discoveryURL', discoveryUrl || url]] as const) {
    if (!value.startsWith('https://') || !URL.canParse(value)) throw new StartError(`${flag}: ${path}.issuer.${name} must be an https URL`);
  }
  if (discoveryUrl !== '' && discoveryUrl === url) throw new StartError(`${flag}: ${path}.issuer.discoveryURL must differ from url`);
  const authorities = toText(issuer['certificateAuthority'], `${path}.issuer.certificateAuthority`);
  return {
    url, audiences: readAudiences(issuer, `${path}.issuer`), ...(discoveryUrl !== '' && { discoveryUrl }),
    ...readMappings(toFields(jwt['claimMappings'] ?? {}, `${path}.claimMappings`), `${path}.claimMappings`),
    requiredClaims: toList(jwt['claimValidationRules'], `${path}.claimValidationRules`).map((rule, index) => {
      const at = `${path}.claimValidationRules[${index}]`;
      checkFields(rule, at, ['claim', 'requiredValue']);
      return { claim: toText(rule['claim'], `${at}.claim`), value: toText(rule['requiredValue'], `${at}.requiredValue`) };
    }),
    algorithms: jwtAlgorithms, fetchJson: (address) => fetchJson(address, authorities === '' ? {} : { authorities }),
  };
}

function readAudiences(issuer: Fields, path: string): readonly string[] {
  const audiences = issuer['audiences'];
  if (!Array.isArray(audiences) || audiences.length === 0 || !audiences.every((one) => typeof one === 'string' && one !== '')) {
    throw new StartError(`${flag}: ${path}.audiences must name at least one audience`);
  }
  if (audiences.length > 1 && issuer['audienceMatchPolicy'] !== 'MatchAny') {
    throw new StartError(`${flag}: ${path}.audienceMatchPolicy must be MatchAny for several audiences`);
  }
  return audiences;
}

function readMappings(mappings: Fields, path: string): Pick<OidcIssuer, 'username' | 'groups' | 'uid'> {
  checkFields(mappings, path, ['username', 'groups', 'uid', 'extra']);
  if (toList(mappings['extra'], `${path}.extra`).length > 0) throw new StartError(`${flag}: ${path}.extra: expressions are not supported`);
  const username = readMapping(mappings['username'], `${path}.username`);
  if (username === undefined) throw new StartError(`${flag}: ${path}.username.claim is required`);
  const groups = readMapping(mappings['groups'], `${path}.groups`);
  const uid = mappings['uid'] === undefined ? undefined : toFields(mappings['uid'], `${path}.uid`);
  if (uid !== undefined) checkFields(uid, `${path}.uid`, ['claim']);
  const uidClaim = toText(uid?.['claim'], `${path}.uid.claim`);
  return { username, ...(groups !== undefined && { groups }), ...(uidClaim !== '' && { uid: uidClaim }) };
}

function readMapping(value: unknown, path: string): ClaimMapping | undefined {
  if (value === undefined || value === null) return undefined;
  const mapping = toFields(value, path);
  checkFields(mapping, path, ['claim', 'prefix']);
  const claim = toText(mapping['claim'], `${path}.claim`);
  if (claim === '') return undefined;
  if (typeof mapping['prefix'] !== 'string') throw new StartError(`${flag}: ${path}.prefix is required when claim is set; it may be ""`);
  return { claim, prefix: mapping['prefix'] };
}

function readAnonymous(value: unknown): AuthenticationConfiguration['anonymous'] {
  if (value === undefined || value === null) return undefined;
  const anonymous = toFields(value, 'anonymous');
  checkFields(anonymous, 'anonymous', ['enabled', 'conditions']);
  const paths = toList(anonymous['conditions'], 'anonymous.conditions').map((one, index) => {
    checkFields(one, `anonymous.conditions[${index}]`, ['path']);
    return toText(one['path'], `anonymous.conditions[${index}].path`);
  });
  if (anonymous['enabled'] !== true) {
    if (paths.length > 0) throw new StartError(`${flag}: anonymous.conditions: enabled must be true for conditions`);
    return false;
  }
  return paths.length === 0 ? true : { paths };
}

/** The issuer that the --oidc-* flags describe. */
export function readOidcFlags(options: ServerOptions): OidcIssuer {
  const { oidcIssuerUrl: url, oidcUsernameClaim, oidcUsernamePrefix, oidcCaFile } = options;
  const unknown = options.oidcSigningAlgs.find((name) => !jwtAlgorithms.includes(name));
  if (unknown !== undefined) throw new StartError(`--oidc-signing-algs: ${JSON.stringify(unknown)} is not one of ${jwtAlgorithms.join(', ')}`);
  const implied = oidcUsernameClaim === 'email' ? '' : `${url}#`;
  const prefix = oidcUsernamePrefix === '-' ? '' : oidcUsernamePrefix === '' ? implied : oidcUsernamePrefix;
  const authorities = oidcCaFile === '' ? undefined : readTextFile('--oidc-ca-file', oidcCaFile);
  return {
    url, audiences: [options.oidcClientId], username: { claim: oidcUsernameClaim, prefix }, algorithms: options.oidcSigningAlgs,
    ...(options.oidcGroupsClaim !== '' && { groups: { claim: options.oidcGroupsClaim, prefix: options.oidcGroupsPrefix } }),
    requiredClaims: options.oidcRequiredClaims.map((one) => ({ claim: one.slice(0, one.indexOf('=')), value: one.slice(one.indexOf('=') + 1) })),
    fetchJson: (address) => fetchJson(address, authorities === undefined ? {} : { authorities }),
  };
}
