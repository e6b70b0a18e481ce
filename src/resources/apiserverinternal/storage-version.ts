// internal.apiserver.k8s.io/v1alpha1 StorageVersion: in which version each server stores a resource; off by default.
import {
  type FieldError, type KubeObject, checkDns1035Label, checkDnsSubdomain, checkQualifiedName, duplicate, invalidValue,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, formatMembers, withNameAndAge } from '../common/columns/columns.ts';
import { keepUserMetadata, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkRequired, checkText, each, isGiven, statusOf, textsOf } from '../common/validation/check.ts';
import { readPath, toObjects, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

const serversOf = (object: KubeObject) => toObjects(readPath(object, 'status', 'storageVersions'));

const storageVersionColumns: readonly Column[] = withNameAndAge(
  column('CommonEncodingVersion', (object) => toText(readPath(object, 'status', 'commonEncodingVersion') ?? '<unset>')),
  column('StorageVersions', (object) => formatMembers(serversOf(object).map((each) => `${toText(each['apiServerID'])}=${toText(each['encodingVersion'])}`))),
);
const VERSION_RULE = 'a DNS-1035 label, which must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end '
  + 'with an alphanumeric character (e.g. \'my-name\',  or \'abc-123\', regex used for validation is \'[a-z]([-a-z0-9]*[a-z0-9])?\')';

function checkName(name: string): readonly string[] {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...checkDnsSubdomain(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...checkDns1035Label(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ];
}

/** The problems of a group version; the group may be absent. */
function findVersionProblems(text: string): readonly string[] {
  const parts = text.split('/');
  if (parts.length > 2) return [`an apiVersion is ${VERSION_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`];
  const version = parts.at(-1) as string;
  const groupProblems = parts.length === 1 ? [] : parts[0] === '' ? ['must be non-empty'] : checkDnsSubdomain(parts[0] as string);
  const versionProblems = version === '' ? ['must be non-empty'] : checkDns1035Label(version);
  return [...groupProblems.map((problem) => `group part: ${problem}`), ...versionProblems.map((problem) => `version part: ${problem}`)];
}

function checkVersion({ path, value }: Field): Errors {
  const problems = findVersionProblems(toText(value));
  return problems.length === 0 ? [] : [invalidValue(path, toText(value), problems.join())];
}

function checkServer(server: Field): Errors {
  const [encoding, decodable, served] = [at(server, 'encodingVersion'), at(server, 'decodableVersions'), at(server, 'servedVersions')];
  const decoded = textsOf(decodable);
  const includes = decoded.includes(toText(encoding.value));
  return [
    ...checkText(at(server, 'apiServerID'), checkDnsSubdomain), ...checkVersion(encoding), ...each(decodable).flatMap(checkVersion),
    ...(includes ? [] : [invalidValue(decodable.path, decodable.value ?? null, `decodableVersions must include encodingVersion ${toText(encoding.value)}`)]),
    ...each(served).flatMap((version) => [
      ...checkVersion(version),
      ...(decoded.includes(toText(version.value)) ? [] : [invalidValue(version.path, version.value,
        `individual served version : ${toText(version.value)} must be included in decodableVersions : [${decoded.join(' ')}]`)]),
    ]),
  ];
}

function checkCommon(common: Field, servers: readonly Field[]): Errors {
  const versions = new Set(servers.map((server) => toText(at(server, 'encodingVersion').value)));
  const [shared] = versions.size === 1 ? versions : [];
  const given = isGiven(common) ? toText(common.value) : undefined;
  if (shared === given) return [];
  if (shared === undefined) {
    return [invalidValue(common.path, given, 'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the '
      + 'supported versions yet')];
  }
  const detail = given === undefined ? `the common encoding version is ${shared}` : `the actual common encoding version is ${shared}`;
  return [invalidValue(common.path, given ?? null, detail)];
}

/** The reference names conditions by the index alone. */
function checkConditions(root: Field): Errors {
  const known = new Map<string, number>();
  return each(at(root, 'conditions')).flatMap(({ value }, index) => {
    const condition: Field = { path: `${root.path}[${index}]`, value };
    const [type, state] = [at(condition, 'type'), at(condition, 'status')];
    const before = known.get(toText(type.value));
    known.set(toText(type.value), index);
    const repeated: readonly FieldError[] = before === undefined ? []
      : [invalidValue(type.path, toText(type.value), `the type of the condition is not unique, it also appears in conditions[${before}]`)];
    return [
      ...repeated, ...checkText(type, checkQualifiedName), ...checkText(state, checkQualifiedName),
      ...checkRequired(at(condition, 'reason')), ...checkRequired(at(condition, 'message')),
    ];
  });
}

function validateStatus(object: KubeObject): Errors {
  const root = statusOf(object);
  const servers = each(at(root, 'storageVersions'));
  const ids = new Set<string>();
  const serverErrors = servers.flatMap((server): Errors => {
    const id = at(server, 'apiServerID');
    const isKnown = ids.has(toText(id.value));
    ids.add(toText(id.value));
    return [...(isKnown ? [duplicate(id.path, id.value)] : []), ...checkServer(server)];
  });
  return [...serverErrors, ...checkCommon(at(root, 'commonEncodingVersion'), servers), ...checkConditions(root)];
}

/** The spec of StorageVersion. */
export const storageVersionKind: KindSpec = {
  kind: 'StorageVersion', plural: 'storageversions', cluster: true, versions: ['v1alpha1'], nameRule: 'path-segment',
  unconditionalUpdate: false,
  subresources: [status],
  metadataChecks: ['kind'],
  resetFields: statusOnlyResets,
  columns: storageVersionColumns,
  strategy: keepUserMetadata,
  validation: {
    object: (object) => checkText({ path: 'metadata.name', value: object.metadata.name }, checkName), update: () => [], status: validateStatus,
  },
};
