// Reads an audit policy from the value of its file. Unknown fields are reported and skipped, as the reference falls back to lenient decoding; all else
// that is wrong is refused in its words.
import { type FieldError, checkDnsSubdomain, fieldPath, invalidValue, notSupported, required } from '../../apimachinery/index.ts';
import { type AuditLevel, type AuditPolicy, type AuditRule, type AuditStage, auditLevels, auditStages } from './policy.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A policy with what was skipped while it was read. */
interface ReadPolicy {
  readonly policy: AuditPolicy;
  readonly warnings: readonly string[];
}

const policyFields = ['kind', 'apiVersion', 'metadata', 'rules', 'omitStages', 'omitManagedFields'];
const ruleFields = ['level', 'users', 'userGroups', 'verbs', 'resources', 'namespaces', 'nonResourceURLs', 'omitStages', 'omitManagedFields'];
const resourceFields = ['group', 'resources', 'resourceNames'];

/** Reads values of one file; collects the names of unknown fields. */
class PolicyReader {
  readonly unknown: string[] = [];

  fields(value: unknown, path: string, known: readonly string[]): Fields {
    if (value === undefined || value === null) return {};
    if (typeof value !== 'object' || Array.isArray(value)) throw mistyped(path, 'an object');
    for (const name of Object.keys(value)) if (!known.includes(name)) this.unknown.push(path === '' ? name : `${path}.${name}`);
    return value as Fields;
  }

  list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw mistyped(path, 'a list');
    return value;
  }

  text(value: unknown, path: string): string {
    if (value === undefined || value === null) return '';
    if (typeof value !== 'string') throw mistyped(path, 'a string');
    return value;
  }

  texts(value: unknown, path: string): string[] {
    return this.list(value, path).map((each, index) => this.text(each, fieldPath(path, index)));
  }

  boolean(value: unknown, path: string): boolean | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'boolean') throw mistyped(path, 'true or false');
    return value;
  }
}

const mistyped = (path: string, wanted: string): Error => new Error(`failed decoding: ${path === '' ? 'the policy' : path} must be ${wanted}`);

/** Reads the policy; throws an Error in the words of the reference. */
export function readAuditPolicy(value: unknown): ReadPolicy {
  const reader = new PolicyReader();
  const file = reader.fields(value, '', policyFields);
  checkKind(file);
  const rules = reader.list(file['rules'], 'rules').map((rule, index) => readRule(reader, rule, fieldPath('rules', index)));
  const omitStages = reader.texts(file['omitStages'], 'omitStages') as AuditStage[];
  const policy = { rules, omitStages, omitManagedFields: reader.boolean(file['omitManagedFields'], 'omitManagedFields') ?? false };
  const problems = [...checkStages(omitStages, 'omitStages'), ...rules.flatMap((rule, index) => checkRule(rule, fieldPath('rules', index)))];
  const texts = [...new Set(problems.map(({ field, message }) => `${field}: ${message}`))];
  if (texts.length > 0) throw new Error(texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`);
  if (rules.length === 0) throw new Error('loaded illegal policy with 0 rules');
  return { policy, warnings: reader.unknown.map((name) => `unknown field ${JSON.stringify(name)}`) };
}

const VERSION = 'audit.k8s.io/v1';
const kindsOfVersion: readonly unknown[] = ['Policy', 'Event', 'EventList'];

/** A policy may leave out its kind, as the reference's does, and not its version. */
function checkKind({ kind, apiVersion }: Fields): void {
  if (apiVersion === undefined || apiVersion === null || apiVersion === '') {
    throw new Error('unknown group version field audit.k8s.io/__internal, Kind=Policy in policy');
  }
  if (String(apiVersion).split('/').length > 2) throw new Error(`failed decoding: unexpected GroupVersion string: ${String(apiVersion)}`);
  const name = kind === undefined || kind === null || kind === '' ? 'Policy' : kind;
  if (apiVersion !== VERSION || !kindsOfVersion.includes(name)) {
    throw new Error(`failed decoding: no kind ${JSON.stringify(name)} is registered for version ${JSON.stringify(apiVersion)} in scheme of audit.k8s.io`);
  }
  if (name !== 'Policy') throw new Error(`failed decoding: ${VERSION}, Kind=${String(name)} is no audit policy`);
}

function readRule(reader: PolicyReader, value: unknown, path: string): AuditRule {
  const rule = reader.fields(value, path, ruleFields);
  const texts = (name: string) => reader.texts(rule[name], `${path}.${name}`);
  return {
    level: reader.text(rule['level'], `${path}.level`) as AuditLevel,
    users: texts('users'), userGroups: texts('userGroups'), verbs: texts('verbs'), namespaces: texts('namespaces'), nonResourceURLs: texts('nonResourceURLs'),
    resources: reader.list(rule['resources'], `${path}.resources`).map((each, index) => {
      const at = fieldPath(path, 'resources', index);
      const { group, resources, resourceNames } = reader.fields(each, at, resourceFields);
      return {
        group: reader.text(group, `${at}.group`), resources: reader.texts(resources, `${at}.resources`),
        resourceNames: reader.texts(resourceNames, `${at}.resourceNames`),
      };
    }),
    omitStages: texts('omitStages') as AuditStage[],
    omitManagedFields: reader.boolean(rule['omitManagedFields'], `${path}.omitManagedFields`),
  };
}

function checkStages(stages: readonly string[], path: string): FieldError[] {
  return stages.flatMap((stage, index) => (auditStages.some((known) => known === stage) ? []
    : [invalidValue(fieldPath(path, index), stage, `allowed stages are ${auditStages.join(',')}`)]));
}

function checkRule({ level, nonResourceURLs, resources, namespaces, omitStages }: AuditRule, path: string): FieldError[] {
  const at = (name: string) => `${path}.${name}`;
  const isMixed = nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0);
  return [
    ...checkLevel(level, at('level')),
    ...nonResourceURLs.flatMap((url, index) => checkUrl(url, fieldPath(at('nonResourceURLs'), index))),
    // The reference names no index here.
    ...resources.flatMap((each) => checkResources(each, at('resources'))),
    ...checkStages(omitStages, at('omitStages')),
    ...(isMixed ? [invalidValue(at('nonResourceURLs'), nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs')] : []),
  ];
}

function checkLevel(level: string, path: string): FieldError[] {
  if (level === '') return [required(path)];
  return auditLevels.some((known) => known === level) ? [] : [notSupported(path, level, auditLevels)];
}

function checkUrl(url: string, path: string): FieldError[] {
  if (url === '*') return [];
  return [
    ...(url.startsWith('/') ? [] : [invalidValue(path, url, 'non-resource URL rules must begin with a \'/\' character')]),
    ...(url.slice(0, -1).includes('*') ? [invalidValue(path, url, 'non-resource URL wildcards \'*\' must be the final character of the rule')] : []),
  ];
}

function checkResources({ group, resources, resourceNames }: AuditRule['resources'][number], path: string): FieldError[] {
  const names = group === '' || group === '*' ? [] : checkDnsSubdomain(group);
  return [
    ...(names.length > 0 ? [invalidValue(`${path}.group`, group, names.join(','))] : []),
    ...(resourceNames.length > 0 && resources.length === 0
      ? [invalidValue(`${path}.resourceNames`, resourceNames, 'using resourceNames requires at least one resource')] : []),
  ];
}
