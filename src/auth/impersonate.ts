// Acting as another user: the Impersonate-* headers, and the rights to use them. Mirrors constrained impersonation of kube-apiserver 1.36 (modes for
// nodes, service accounts and other users, each with a right on the identity and a right on the action) with the old `impersonate` verb after it.
//
// The refusal that a caller gets is the first one met; the mode that last let a caller through is asked first. So a caller that has the old right
// on some users reads about the old right when asking for others, while everybody else reads about the constrained one.
import { BoundedCache, decodeHeader } from '../base/index.ts';
import { type StatusError, badRequest, checkDnsSubdomain, checkPrefixedPath } from '../apimachinery/index.ts';
import { parseServiceAccountUsername, serviceAccountGroups } from './authenticate/service-account-claims.ts';
import { readExtra } from './authenticate/front-proxy.ts';
import { type Attributes, type Authorize, refuse } from './authorize/attributes.ts';
import { joinErrors } from './authorize/rbac.ts';
import { type User, ANONYMOUS_NAME, AUTHENTICATED_GROUP, MASTERS_GROUP, UNAUTHENTICATED_GROUP } from './user.ts';

type Extra = Readonly<Record<string, readonly string[]>>;

/** The user that a caller asks to act as, as the headers name it. */
interface WantedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Extra;
}

const EXTRA_PREFIX = 'impersonate-extra-';

/** Reads the headers (lower-case names, values as sent). undefined: the request impersonates no user. Throws 400 when all but the user is named. */
export function readImpersonation(headers: ReadonlyMap<string, readonly string[]>): WantedUser | undefined {
  const first = (name: string) => decodeHeader(headers.get(name)?.[0] ?? '');
  const wanted = {
    name: first('impersonate-user'), uid: first('impersonate-uid'), groups: (headers.get('impersonate-group') ?? []).map(decodeHeader),
    extra: readExtra(headers, [EXTRA_PREFIX]),
  };
  if (wanted.name !== '') return wanted;
  const more = wanted.uid !== '' || wanted.groups.length > 0 || Object.keys(wanted.extra).length > 0;
  if (more) throw badRequest(`requested ${describeWanted(wanted)} without impersonating a user name`);
  return undefined;
}

/** How Go prints the pointer to such a user. */
function describeWanted({ name, uid, groups, extra }: WantedUser): string {
  const quote = (text: string) => JSON.stringify(text);
  const list = (values: readonly string[]) => (values.length === 0 ? '[]string(nil)' : `[]string{${values.map(quote).join(', ')}}`);
  const entries = Object.entries(extra).map(([key, values]) => `${quote(key)}:${list(values)}`);
  const map = entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`;
  return `&user.DefaultInfo{Name:${quote(name)}, UID:${quote(uid)}, Groups:${list(groups)}, Extra:${map}}`;
}

/** A user to act as. */
interface Impersonated {
  readonly user: User;
  /** The verb of the constrained mode that allowed it; '' for the old right. */
  readonly constraint: string;
}

/** Answers the user to act as; throws 403 when the caller may not. */
export type Impersonate = (wanted: WantedUser, attributes: Attributes) => Promise<Impersonated>;

interface Attempt {
  readonly wanted: WantedUser;
  readonly attributes: Attributes;
  readonly authorize: Authorize;
}

/** One way of impersonating. `undefined`: it is not for such users. */
type Mode = (attempt: Attempt) => Promise<Impersonated | StatusError | undefined>;

/** Callers whose last successful mode is remembered. */
const REMEMBERED_CALLERS = 1000;

/** Makes the check of impersonation over an authorizer. */
export function createImpersonator(authorize: Authorize): Impersonate {
  const lastModes = new BoundedCache<string, Mode>({ limit: REMEMBERED_CALLERS });
  return async (wanted, attributes) => {
    const caller = JSON.stringify([attributes.user.name, attributes.user.uid, attributes.user.groups]);
    const last = lastModes.get(caller);
    let refusal: StatusError | undefined;
    for (const mode of last === undefined ? modes : [last, ...modes.filter((one) => one !== last)]) {
      const found = await mode({ wanted, attributes, authorize });
      if (found === undefined) continue;
      if (!(found instanceof Error)) {
        lastModes.set(caller, mode);
        return found;
      }
      refusal ??= found;
    }
    throw refusal ?? refuse(attributes);
  };
}

const onlyNamed = ({ uid, groups, extra }: WantedUser): boolean => uid === '' && groups.length === 0 && Object.keys(extra).length === 0;

function nodeOf(username: string): string | undefined {
  const name = username.startsWith('system:node:') ? username.slice('system:node:'.length) : '';
  return name !== '' && checkDnsSubdomain(name).length === 0 ? name : undefined;
}

function isOwnNode({ wanted, attributes: { user } }: Attempt): boolean {
  const associated = user.extra?.['authentication.kubernetes.io/node-name'];
  return parseServiceAccountUsername(user.name) !== undefined && associated?.length === 1 && associated[0] === nodeOf(wanted.name);
}

const isNode = ({ wanted }: Attempt): boolean => onlyNamed(wanted) && nodeOf(wanted.name) !== undefined;
const isAccount = ({ wanted }: Attempt): boolean => onlyNamed(wanted) && parseServiceAccountUsername(wanted.name) !== undefined;
const isOther = ({ wanted }: Attempt): boolean => nodeOf(wanted.name) === undefined && parseServiceAccountUsername(wanted.name) === undefined;

/** A mode of constrained impersonation: the action is authorized first, then the identity. */
function constrain(name: string, applies: (attempt: Attempt) => boolean): Mode {
  return async (attempt) => {
    if (!applies(attempt)) return undefined;
    // A service account that acts as its own node is authorized without regard to its node and pod.
    const own = name === 'associated-node';
    const user = own ? dropExtraValues(attempt.attributes.user) : attempt.attributes.user;
    const attributes = { ...attempt.attributes, user, verb: `impersonate-on:${name}:${attempt.attributes.verb}` };
    const decision = await attempt.authorize(attributes);
    if (decision.type !== 'allow') return refuse(attributes, decision.reason);
    return checkIdentityOf(attempt, { verb: `impersonate:${name}`, constrained: true, user, anyNode: own });
  };
}

function dropExtraValues(user: User): User {
  return { ...user, extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(user.extra ?? {}).sort() } };
}

const modes: readonly Mode[] = [
  constrain('associated-node', (attempt) => isNode(attempt) && isOwnNode(attempt)),
  constrain('arbitrary-node', isNode),
  constrain('serviceaccount', isAccount),
  constrain('user-info', isOther),
  (attempt) => checkIdentityOf(attempt, { verb: 'impersonate', constrained: false, user: attempt.attributes.user, anyNode: false }),
];

interface Impersonation {
  readonly verb: string;
  readonly constrained: boolean;
  readonly user: User;
  readonly anyNode: boolean;
}

/** Checks the right to each part of the identity. */
async function checkIdentityOf({ wanted, authorize }: Attempt, impersonation: Impersonation): Promise<Impersonated | StatusError> {
  for (const { refusal, all, each } of listParts(wanted, impersonation)) {
    if (refusal !== undefined) return refusal;
    if (all !== undefined && (await authorize(all)).type === 'allow') continue;
    for (const attributes of each) {
      const decision = await authorize(attributes);
      if (decision.type !== 'allow') return refuse(attributes, decision.reason);
    }
  }
  return { user: completeUser(wanted, impersonation.constrained), constraint: impersonation.constrained ? impersonation.verb : '' };
}

/** The name, the uid, the groups or the extra fields of an identity. */
interface Part {
  /** Refused whatever the authorizer says. */
  readonly refusal?: StatusError | undefined;
  /** The right that stands for many; it is asked for before them. */
  readonly all?: Attributes | undefined;
  readonly each: readonly Attributes[];
}

/** As many values are asked for by one question first, in the constrained modes. */
const MANY = 4;
const newer = { group: 'authentication.k8s.io' };

type About = (resource: string, name: string, more?: Partial<Attributes>) => Attributes;

function listParts(wanted: WantedUser, impersonation: Impersonation): Part[] {
  const { constrained, user, verb } = impersonation;
  const group = constrained ? newer.group : '';
  const about: About = (resource, name, more = {}) => ({
    user, verb, isResource: true, group, version: 'v1', namespace: '', resource, subresource: '', name, path: '', ...more,
  });
  const groups = { each: wanted.groups.map((name) => about('groups', name)) };
  const extra = { each: Object.entries(wanted.extra).flatMap(([subresource, values]) =>
    values.map((value) => about('userextras', value, { ...newer, subresource }))) };
  return [
    { each: [nameAttributes(wanted.name, impersonation, about)] }, { each: wanted.uid === '' ? [] : [about('uids', wanted.uid, newer)] },
    constrained ? { ...groups, ...constrainGroups(wanted.groups, about) } : groups,
    constrained ? { ...extra, ...constrainExtra(wanted.extra, extra.each.length, about) } : extra,
  ];
}

function nameAttributes(name: string, { constrained, anyNode }: Impersonation, about: About): Attributes {
  const node = constrained ? nodeOf(name) : undefined;
  if (node !== undefined) return about('nodes', anyNode ? '*' : node);
  const account = parseServiceAccountUsername(name);
  return account === undefined ? about('users', name) : about('serviceaccounts', account.name, { namespace: account.namespace });
}

function constrainGroups(groups: readonly string[], about: About): Omit<Part, 'each'> {
  if (groups.includes('')) return { refusal: refuse(about('groups', ''), 'impersonating the empty string group is not allowed') };
  if (groups.includes(MASTERS_GROUP)) {
    return { refusal: refuse(about('groups', MASTERS_GROUP), 'impersonating the system:masters group is not allowed') };
  }
  return groups.length >= MANY ? { all: about('groups', '*') } : {};
}

function constrainExtra(extra: Extra, count: number, about: About): Omit<Part, 'each'> {
  for (const [key, values] of Object.entries(extra)) {
    const problem = findExtraProblem(key, values);
    if (problem !== undefined) return { refusal: refuse(about('userextras', '', newer), problem) };
  }
  return count >= MANY ? { all: about('userextras', '*', { ...newer, subresource: '*' }) } : {};
}

function findExtraProblem(key: string, values: readonly string[]): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed';
  const problems = checkPrefixedPath('extra.key', key).map(({ field, message }) => `${field}: ${message}`);
  if (problems.length > 0) return `impersonating an invalid key in extra is not allowed: ${joinErrors(problems)}`;
  if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`;
  return values.includes('') ? 'impersonating the empty string value in extra is not allowed' : undefined;
}

function completeUser({ name, uid, groups, extra }: WantedUser, constrained: boolean): User {
  const account = parseServiceAccountUsername(name);
  const implied = account !== undefined ? serviceAccountGroups(account.namespace) : constrained && nodeOf(name) !== undefined ? ['system:nodes'] : [];
  const own = groups.length === 0 ? implied : groups;
  const everybody = name === ANONYMOUS_NAME ? UNAUTHENTICATED_GROUP : own.includes(UNAUTHENTICATED_GROUP) ? undefined : AUTHENTICATED_GROUP;
  const all = everybody === undefined || own.includes(everybody) ? own : [...own, everybody];
  return { name, groups: all, ...(uid !== '' && { uid }), ...(Object.keys(extra).length > 0 && { extra }) };
}
