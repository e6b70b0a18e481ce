// networking.k8s.io/v1 IPAddress: its name is the address.
import {
  type FieldError, type KubeObject, checkDnsSubdomain, checkPathSegment, equalJson, formatIpAddress, invalidValue, parseIpAddress, required,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, nameColumn } from '../common/columns/columns.ts';
import { checkIp } from '../common/validation/addresses.ts';
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

function checkName(name: string): Errors {
  // That a name is missing is said of every kind.
  if (name === '') return [];
  const address = parseIpAddress(name);
  const problems = checkIp({ path: 'metadata.name', value: name });
  if (problems.length > 0 || address === undefined) return problems;
  const canonical = formatIpAddress(address);
  return canonical === name ? [] : [invalidValue('metadata.name', name, `must be in canonical form (${JSON.stringify(canonical)})`)];
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

/** Validates ipaddresses: the name is an address in canonical form, and the parent reference is complete. */
function validateIpAddress(object: KubeObject): Errors {
  const errors: readonly FieldError[] = checkName(object.metadata.name ?? '');
  const parent = at(specOf(object), 'parentRef');
  if (!isFilled(parent)) return [...errors, required(parent.path)];
  return [...errors, ...checkParent(parent)];
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
  validation: { object: validateIpAddress, update: validateIpAddressUpdate },
};
