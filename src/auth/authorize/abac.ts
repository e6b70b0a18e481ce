// The ABAC mode: policies in a file, one JSON object a line. A policy allows what its user or group, its resource or path and its readonly say; all
// policies allow reads only where they are readonly. Mirrors the reference's package pkg/auth/authorizer/abac, old lines without a version included.
import { isJsonObject } from '../../base/index.ts';
import type { User } from '../user.ts';
import type { Attributes, Authorize, Decision } from './attributes.ts';
import type { ResolveRules } from './rbac.ts';

interface Policy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

/** What a policy file allows. */
export interface AbacPolicies {
  readonly authorize: Authorize;
  readonly resolveRules: ResolveRules;
}

const AUTHENTICATED = 'system:authenticated';
const readVerbs = ['get', 'list', 'watch'];
const unmatched: Decision = { type: 'none', reason: 'No policy matched.' };
const allowed: Decision = { type: 'allow', reason: '' };

type Fields = Readonly<Record<string, unknown>>;

/** Reads the lines of a policy file; throws an Error that names the line. Empty lines and those that begin with # mean nothing. */
export function readAbacPolicies(text: string): AbacPolicies {
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const policies = lines.filter(({ line }) => line !== '' && !line.startsWith('#')).map(({ line, number }) => {
    try {
      return readPolicy(JSON.parse(line) as Fields);
    } catch (error) {
      throw new Error(`line ${number}: ${line}: ${(error as Error).message}`, { cause: error });
    }
  });
  return {
    authorize: (attributes) => (policies.some((policy) => matches(policy, attributes)) ? allowed : unmatched),
    resolveRules: (user, namespace) =>
      ({ errors: [], rules: policies.filter((policy) => isSubject(policy, user)).flatMap((policy) => describe(policy, namespace)) }),
  };
}

function readPolicy(line: Fields): Policy {
  if (!isJsonObject(line)) throw new Error('is not an object');
  const hasVersion = Boolean(line['apiVersion']) && Boolean(line['kind']);
  if (hasVersion && (line['apiVersion'] !== 'abac.authorization.kubernetes.io/v1beta1' || line['kind'] !== 'Policy')) throw new Error('unrecognized object');
  const policy = readFields(hasVersion ? (line['spec'] ?? {}) as Fields : line);
  const isAny = policy.user === '*' || policy.group === '*' || (!hasVersion && policy.user === '' && policy.group === '');
  const named = isAny ? { ...policy, user: '', group: AUTHENTICATED } : policy;
  return hasVersion ? named : widen(named);
}

function readFields(fields: Fields): Policy {
  const text = (name: string): string => {
    const value = fields[name] ?? '';
    if (typeof value !== 'string') throw new Error(`${name} must be a string`);
    return value;
  };
  const { readonly = false } = fields;
  if (typeof readonly !== 'boolean') throw new Error('readonly must be true or false');
  return {
    user: text('user'), group: text('group'), readonly, apiGroup: text('apiGroup'), resource: text('resource'), namespace: text('namespace'),
    nonResourcePath: text('nonResourcePath'),
  };
}

/** In lines without a version whatever is not said means everything. */
const widen = (policy: Policy): Policy => ({
  ...policy, apiGroup: '*', resource: policy.resource || '*', namespace: policy.namespace || '*',
  nonResourcePath: policy.namespace === '' && policy.resource === '' ? '*' : '',
});

function isSubject({ user, group }: Policy, { name, groups }: User): boolean {
  if (user !== '' && user !== name) return false;
  return group === '' ? user !== '' : groups.includes(group);
}

function matches(policy: Policy, attributes: Attributes): boolean {
  if (!isSubject(policy, attributes.user)) return false;
  if (policy.readonly && !readVerbs.includes(attributes.verb)) return false;
  return attributes.isResource ? matchesResource(policy, attributes) : matchesPath(policy.nonResourcePath, attributes.path);
}

const isIn = (pattern: string, value: string): boolean => pattern === '*' || pattern === value;

const matchesResource = (policy: Policy, { namespace, resource, group }: Attributes): boolean =>
  isIn(policy.namespace, namespace) && isIn(policy.resource, resource) && isIn(policy.apiGroup, group);

function matchesPath(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true;
  if (!pattern.endsWith('*')) return false;
  let end = pattern.length;
  while (pattern[end - 1] === '*') end -= 1;
  return path.startsWith(pattern.slice(0, end));
}

function describe({ readonly, apiGroup, resource, namespace: where, nonResourcePath }: Policy, namespace: string) {
  if (!isIn(where, namespace)) return [];
  const verbs = readonly ? readVerbs : ['*'];
  return [
    ...(resource === '' ? [] : [{ verbs, apiGroups: [apiGroup], resources: [resource] }]),
    ...(nonResourcePath === '' ? [] : [{ verbs, nonResourceURLs: [nonResourcePath] }]),
  ];
}
