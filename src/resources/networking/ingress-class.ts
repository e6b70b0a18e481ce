// networking.k8s.io/v1 IngressClass.
import { type KubeObject, checkDnsLabel, checkPrefixedPath, forbiddenField, notSupportedText, required, tooLong } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, textColumn } from '../common/columns/columns.ts';
import { defaultableNameColumn } from '../common/columns/default-class.ts';
import { readPointer, setAbsent } from '../common/defaults.ts';
import { sameAs } from '../common/former-versions.ts';
import { type Errors, type Field, at, checkImmutable, checkText, isGiven, specOf } from '../common/validation/check.ts';
import { readPath, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { checkReference } from './references.ts';

function formatParameters(object: KubeObject): string {
  const parameters = readPath(object, 'spec', 'parameters');
  if (parameters === undefined || parameters === null) return '<none>';
  const group = readPath(parameters, 'apiGroup');
  return `${toText(readPath(parameters, 'kind'))}${group === undefined ? '' : `.${toText(group)}`}/${toText(readPath(parameters, 'name'))}`;
}

/** Columns of ingressclasses. */
const ingressClassColumns: readonly Column[] = [
  defaultableNameColumn('ingressclass.kubernetes.io/is-default-class'),
  textColumn('Controller', 'spec', 'controller'),
  column('Parameters', formatParameters),
  ageColumn,
];

/** Defaults of ingressclasses. */
function applyIngressClassDefaults(ingressClass: KubeObject): void {
  const parameters = readPointer(readPointer(ingressClass, 'spec'), 'parameters');
  if (parameters !== undefined) setAbsent(parameters, { scope: 'Cluster' });
}

const MAX_CONTROLLER_LENGTH = 250;

function checkController(place: Field): Errors {
  const text = toText(place.value);
  return [...(text.length > MAX_CONTROLLER_LENGTH ? [tooLong(place.path, MAX_CONTROLLER_LENGTH)] : []), ...checkPrefixedPath(place.path, text)];
}

function checkParameters(parameters: Field): Errors {
  const scope = at(parameters, 'scope');
  const namespace = at(parameters, 'namespace');
  const errors = checkReference(parameters);
  const scopes = ['Cluster', 'Namespace'];
  const wrongScope = scopes.includes(toText(scope.value)) ? [] : [notSupportedText(scope.path, toText(scope.value), scopes)];
  if (wrongScope.length > 0) return [...errors, ...wrongScope];
  if (scope.value === 'Cluster') return isGiven(namespace) ? [...errors, forbiddenField(namespace.path, "`parameters.scope` is set to 'Cluster'")] : errors;
  if (!isGiven(namespace)) return [...errors, required(namespace.path, "`parameters.scope` is set to 'Namespace'")];
  return [...errors, ...checkText(namespace, checkDnsLabel)];
}

/** Validates ingressclasses. */
function validateIngressClass(ingressClass: KubeObject): Errors {
  const parameters = at(specOf(ingressClass), 'parameters');
  return [...checkController(at(specOf(ingressClass), 'controller')), ...(isGiven(parameters) ? checkParameters(parameters) : [])];
}

/** Errors of an update that changes the controller. */
function checkSameController(ingressClass: KubeObject, old: KubeObject): Errors {
  const controllerOf = (object: KubeObject): Field => ({ path: 'spec.controller', value: toText(readPath(object, 'spec', 'controller')) });
  return checkImmutable(controllerOf(ingressClass), controllerOf(old));
}

/** The spec of IngressClass. */
export const ingressClassKind: KindSpec = {
  kind: 'IngressClass', plural: 'ingressclasses', cluster: true,
  formerVersions: sameAs('networking.k8s.io/v1beta1'),
  tracksGeneration: true,
  metadataChecks: ['update', 'kind', 'object'],
  columns: ingressClassColumns,
  applyDefaults: applyIngressClassDefaults,
  validation: { object: validateIngressClass, update: (object, old) => [...checkSameController(object, old), ...validateIngressClass(object)] },
};
