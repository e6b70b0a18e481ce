// networking.k8s.io/v1 IPAddress: its name is the address.
import { type KubeObject, checkDnsSubdomain, checkPathSegment, equalJson, invalidValue, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, nameColumn } from '../common/columns/columns.ts';
import { checkCanonicalIp } from '../common/validation/addresses.ts';
import { type Errors, type Field, at, checkText, isEmptyText, isFilled, specOf } from '../common/validation/check.ts';
import { readPath, toObject, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

function formatParent(object: KubeObject): string {
  const parent = toObject(readPath(object, 'spec', 'parentRef'));
  if (Object.keys(parent).length === 0) return '<none>';
  const group = toText(parent['group']);
  const resource = `${toText(parent['resource'])}${group === '' ? '' : `.${group}`}`.toLowerCase();
  const namespace = toText(parent['namespace']);
  return `${resource}/${namespace === '' ? '' : `${namespace}/`}${toText(parent['name'])}`;
}

/** Columns of ipaddresses; the reference sends their age without declaring a column for it. */
const ipAddressColumns: readonly Column[] = [nameColumn, column('ParentRef', formatParent), { ...ageColumn, undeclared: true }];

/** The name is an address in canonical form. */
function checkName({ metadata }: KubeObject): Errors {
  return (['generateName', 'name'] as const).flatMap((field): Errors => {
    const place = { path: `metadata.${field}`, value: metadata[field] ?? '' };
    if (place.value === '') return [];
    return checkCanonicalIp(place);
  });
}

/** The group of a parent may be empty, that of Services; resource, name and namespace become segments of a path. */
function checkParent(parent: Field): Errors {
  const check = (member: string, rule: (text: string) => string[], isNeeded = false): Errors => {
    const place = at(parent, member);
    if (isEmptyText(place)) return isNeeded ? [required(place.path)] : [];
    return checkText(place, rule);
  };
  return [
    ...check('group', checkDnsSubdomain), ...check('resource', checkPathSegment, true), ...check('name', checkPathSegment, true),
    ...check('namespace', checkPathSegment),
  ];
}

/** Validates ipaddresses: the parent reference is complete. */
function validateIpAddress(object: KubeObject): Errors {
  const parent = at(specOf(object), 'parentRef');
  return isFilled(parent) ? checkParent(parent) : [required(parent.path)];
}

/** Validates updates of ipaddresses; the reference shows the parent as Go writes it. */
function validateIpAddressUpdate(object: KubeObject, old: KubeObject): Errors {
  const parent = at(specOf(object), 'parentRef');
  const text = (name: string): string => toText(readPath(parent.value, name));
  const shown = { Group: text('group'), Resource: text('resource'), Namespace: text('namespace'), Name: text('name') };
  return equalJson(parent.value, at(specOf(old), 'parentRef').value) ? [] : [invalidValue(parent.path, shown, 'field is immutable')];
}

/** The spec of IPAddress. */
export const ipAddressKind: KindSpec = {
  kind: 'IPAddress', plural: 'ipaddresses', shortNames: ['ip'], cluster: true, nameRule: 'path-segment',
  versions: ['v1', 'v1beta1'],
  columns: ipAddressColumns,
  strategy: { validateName: checkName },
  validation: { object: validateIpAddress, update: validateIpAddressUpdate },
};
