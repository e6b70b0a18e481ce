// POST serviceaccounts/NAME/token: a signed token for a service account, bound to a pod, a secret or a node if the request says so. Checks, their
// order and their words are kube-apiserver's.
import {
  type FieldError, type KubeObject, type Schema, badRequest, checkPathSegment, conflict, formatGroupVersion, invalid, invalidValue, notFound, parseGroupVersion,
} from '../apimachinery/index.ts';
import { type BoundReference, type FindBoundObject, encodeBoundClaims } from '../auth/index.ts';
import type { Clock, Random } from '../base/index.ts';
import type { SpecialCreate, SpecialRequest } from '../endpoints/index.ts';
import { type Resource, formatTime, trackUpdate } from '../registry/index.ts';

interface TokenRequestDependencies {
  readonly find: FindBoundObject;
  readonly sign: (claims: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly issuer: string;
  readonly apiAudiences: readonly string[];
  /** 0: as long as anybody asks for. */
  readonly maxExpirationSeconds: number;
  /** Tokens of pods that are asked for an hour live for a year, for clients that do not read them again. */
  readonly extendExpiration: boolean;
  /** The longest life that the program which signs allows; absent: any. */
  readonly longestSeconds?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

interface BoundObjectReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}
interface TokenSpec {
  readonly audiences?: readonly string[] | null;
  readonly expirationSeconds?: number | null;
  readonly boundObjectRef?: BoundObjectReference | null;
}

const kind = { group: 'authentication.k8s.io', kind: 'TokenRequest' };
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
/** What kubelets ask for in the name of pods; only such tokens are extended. */
const POD_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

/** Makes the handler. */
export function createTokenRequests(deps: TokenRequestDependencies): SpecialCreate {
  return Object.assign((request: SpecialRequest) => answerRequest(request, deps), {
    keepsUid: true,
    prepare: (request: SpecialRequest, schema: Schema) => identify(request, rowOf(request.target.resource, schema), deps),
  });
}

const rows = new WeakMap<Resource, Resource>();

/** The row that token requests would have if they were stored: their owners are found with it. */
function rowOf(accounts: Resource, schema: Schema): Resource {
  const known = rows.get(accounts);
  if (known !== undefined) return known;
  const row: Resource = { ...accounts, ...kind, plural: 'tokenrequests', versions: accounts.versions.map((version) => ({ ...version, schema })) };
  rows.set(accounts, row);
  return row;
}

/** Gives the object what validating admission sees: the identity of the account, owners, audiences. */
async function identify({ object, name, target, context }: SpecialRequest, row: Resource, deps: TokenRequestDependencies): Promise<void> {
  const { metadata } = object;
  const { version, namespace } = target;
  const { clock, apiAudiences } = deps;
  checkIdentity(object, name, namespace);
  const account = await deps.find('serviceaccounts', { namespace, name });
  if (account === undefined) throw notFound({ group: '', resource: 'serviceaccounts' }, name);
  checkUid(object, name, account.metadata.uid ?? '');
  const nowMs = clock.now();
  const spec = (object['spec'] ??= {}) as { -readonly [Name in keyof TokenSpec]: TokenSpec[Name] };
  spec.expirationSeconds ??= DEFAULT_SECONDS;
  const owners = trackUpdate({ resource: row, version, subresource: 'token', manager: context.fieldManager, nowMs, old: undefined, object });
  if (owners !== undefined) metadata.managedFields = owners;
  if (!spec.audiences?.length) spec.audiences = [...apiAudiences];
  metadata.name ||= name;
  metadata.namespace ||= namespace;
  metadata.uid = account.metadata.uid ?? '';
  metadata.creationTimestamp = formatTime(nowMs);
  checkSpec(spec);
}

async function answerRequest(request: SpecialRequest, deps: TokenRequestDependencies): Promise<KubeObject> {
  const { object, name, target: { namespace }, context } = request;
  const { uid = '' } = object.metadata;
  const asked = object['spec'] as TokenSpec;
  const bound = await bind(asked.boundObjectRef ?? undefined, { namespace, account: name }, deps.find);
  const spec = completeSpec(asked, deps, context.warnings);
  const now = Math.floor(deps.clock.now() / 1000);
  const extended = deps.extendExpiration && bound.pod !== undefined && spec.expirationSeconds === POD_SECONDS && sameSet(spec.audiences, deps.apiAudiences);
  const id = deps.random.uuid();
  const claims = encodeBoundClaims({
    issuer: deps.issuer, audiences: spec.audiences, namespace, serviceAccount: { name, uid }, ...bound,
    id, issuedAt: now, expiresAt: now + (extended ? Math.min(EXTENDED_SECONDS, deps.longestSeconds ?? Infinity) : spec.expirationSeconds),
    ...(extended && { warnAfter: now + spec.expirationSeconds }),
  });
  // A dry run gets a token too, as upstream gives one: nothing is stored for it.
  const token = await deps.sign(claims);
  context.auditAnnotations?.set('authentication.kubernetes.io/issued-credential-id', { value: `JTI=${id}`, level: 'Metadata' });
  return answer(request, spec, { token, expirationTimestamp: formatTime((now + spec.expirationSeconds) * 1000) });
}

const sameSet = (one: readonly string[], two: readonly string[]): boolean => one.every((text) => two.includes(text));

function checkIdentity(object: KubeObject, name: string, namespace: string): void {
  const given = object.metadata;
  if ((given.namespace ?? '') !== '' && given.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if ((given.name ?? '') !== '' && given.name !== name) {
    throw invalid(kind, name, [invalidValue('metadata.name', given.name, 'must match the service account name if specified')]);
  }
}

/** A uid that a request names is that of the account: a kubelet asks for one that may have been made again meanwhile. */
function checkUid({ metadata: { uid = '' } }: KubeObject, name: string, actual: string): void {
  if (uid === '' || uid === actual) return;
  throw conflict({ group: kind.group, resource: kind.kind }, name,
    `the UID in the token request (${uid}) does not match the UID of the service account (${actual})`);
}

interface CompleteSpec extends TokenSpec {
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}

/** Throws 422 with what is wrong with a request, which validating admission does not see then. */
function checkSpec(spec: TokenSpec): void {
  const asked = spec.expirationSeconds ?? DEFAULT_SECONDS;
  const errors: FieldError[] = [];
  const path = 'spec.expirationSeconds';
  if (asked < MIN_SECONDS) errors.push(invalidValue(path, asked, 'may not specify a duration less than 10 minutes'));
  if (asked > MAX_SECONDS) errors.push(invalidValue(path, asked, 'may not specify a duration larger than 2^32 seconds'));
  if (errors.length > 0) throw invalid(kind, '', errors);
}

function completeSpec(spec: TokenSpec, { apiAudiences, maxExpirationSeconds }: TokenRequestDependencies, warnings: string[]): CompleteSpec {
  const asked = spec.expirationSeconds ?? DEFAULT_SECONDS;
  const capped = maxExpirationSeconds > 0 && asked > maxExpirationSeconds;
  if (capped) warnings.push(`requested expiration of ${asked} seconds shortened to ${maxExpirationSeconds} seconds`);
  const audiences = spec.audiences && spec.audiences.length > 0 ? spec.audiences : apiAudiences;
  return { ...spec, audiences, expirationSeconds: capped ? maxExpirationSeconds : asked };
}

interface Bound {
  readonly pod?: BoundReference;
  readonly secret?: BoundReference;
  readonly node?: BoundReference;
}

/** Kinds that tokens can be bound to; all are of the core group, whose version is not looked at. */
const bindable = new Map<string, 'pods' | 'secrets' | 'nodes'>([['Pod', 'pods'], ['Secret', 'secrets'], ['Node', 'nodes']]);

async function bind(reference: BoundObjectReference | undefined, of: { namespace: string; account: string }, find: FindBoundObject): Promise<Bound> {
  if (reference === undefined) return {};
  const { apiVersion = '', kind: kindName = '', name = '', uid = '' } = reference;
  const resource = (parseGroupVersion(apiVersion)?.group ?? '') === '' ? bindable.get(kindName) : undefined;
  if (resource === undefined) throw badRequest(`cannot bind token to object of type ${describeKind(apiVersion, kindName)}`);
  const problems = checkPathSegment(name);
  if (name === '') throw badRequest('Name parameter required.');
  if (problems.length > 0) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problems.join(';')}`);
  const found = await find(resource, { namespace: resource === 'nodes' ? '' : of.namespace, name });
  if (found === undefined) throw notFound({ group: '', resource }, name);
  const actual = found.metadata.uid ?? '';
  if (uid !== '' && uid !== actual) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', resource: kindName }, name, why);
  }
  if (resource === 'secrets') return { secret: { name, uid: actual } };
  if (resource === 'nodes') return { node: { name, uid: actual } };
  return bindPod(found, of, find);
}

function describeKind(apiVersion: string, kindName: string): string {
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: apiVersion };
  return `${group === '' ? `/${version}` : formatGroupVersion({ group, version })}, Kind=${kindName}`;
}

async function bindPod(pod: KubeObject, { account }: { account: string }, find: FindBoundObject): Promise<Bound> {
  const spec = (pod['spec'] ?? {}) as { serviceAccountName?: string; nodeName?: string };
  if (spec.serviceAccountName !== account) {
    throw badRequest(`cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`);
  }
  const bound = { pod: { name: pod.metadata.name ?? '', uid: pod.metadata.uid ?? '' } };
  if (!spec.nodeName) return bound;
  const node = await find('nodes', { namespace: '', name: spec.nodeName });
  return { ...bound, node: { name: spec.nodeName, uid: node?.metadata.uid ?? '' } };
}

function answer(request: SpecialRequest, spec: CompleteSpec, status: object): KubeObject {
  const { object, name, target: { namespace } } = request;
  const metadata = { ...object.metadata, name, namespace };
  const { audiences, expirationSeconds, boundObjectRef } = spec;
  return { ...object, metadata, spec: { audiences: [...audiences], expirationSeconds, boundObjectRef: boundObjectRef ?? null }, status };
}
