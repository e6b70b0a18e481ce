// The parts that the bindings of validating and mutating admission policies share.
import { type KubeObject, checkDnsSubdomain, checkPathSegment, forbiddenField, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, textColumn, textOr, withNameAndAge } from '../common/columns/columns.ts';
import { formatSelectorStruct } from '../common/columns/selector.ts';
import { readPointer, setAbsent } from '../common/defaults.ts';
import { type Errors, type Field, at, checkOneOf, checkText, isGiven } from '../common/validation/check.ts';
import { checkSelector } from '../common/validation/selectors.ts';
import { readPath, toText } from '../common/values.ts';
import { applyMatchDefaults } from './rules.ts';

function formatParamRef(object: KubeObject): string {
  const reference = readPath(object, 'spec', 'paramRef');
  const name = toText(readPath(reference, 'name'));
  if (name !== '') return `${textOr(readPath(reference, 'namespace'), '*')}/${name}`;
  const selector = readPath(reference, 'selector');
  return selector === undefined || selector === null ? '<unset>' : formatSelectorStruct(selector);
}

/** Columns of the bindings of admission policies. */
export const policyBindingColumns: readonly Column[] = withNameAndAge(
  textColumn('PolicyName', 'spec', 'policyName'),
  column('ParamRef', formatParamRef),
);

/** Defaults of the bindings of admission policies. The alpha version alone has one for parameters that are not found. */
export function applyPolicyBindingDefaults(binding: KubeObject, version: string): void {
  const spec = readPointer(binding, 'spec');
  const [match, parameters] = [readPointer(spec, 'matchResources'), readPointer(spec, 'paramRef')];
  if (match !== undefined) applyMatchDefaults(match);
  if (version === 'v1alpha1' && parameters !== undefined) setAbsent(parameters, { parameterNotFoundAction: 'Deny' });
}

const EXCLUSIVE_TEXT = 'name and selector are mutually exclusive';

function checkParamRef(paramRef: Field): Errors {
  if (!isGiven(paramRef)) return [];
  const name = at(paramRef, 'name');
  const selector = at(paramRef, 'selector');
  const action = at(paramRef, 'parameterNotFoundAction');
  const isNamed = toText(name.value) !== '';
  const isBoth = isNamed && isGiven(selector);
  return [
    ...(isNamed ? checkText(name, checkPathSegment) : []), ...(isBoth ? [forbiddenField(name.path, EXCLUSIVE_TEXT)] : []),
    ...(isGiven(selector) ? checkSelector(selector) : []), ...(isBoth ? [forbiddenField(selector.path, EXCLUSIVE_TEXT)] : []),
    ...(isNamed || isGiven(selector) ? [] : [required(paramRef.path, 'one of name or selector must be specified')]),
    ...(toText(action.value) === '' ? [required(action.path)] : checkOneOf(action, ['Deny', 'Allow'], true)),
  ];
}

/** Validates policy name, parameters and match resources. */
export function checkBinding(spec: Field, checkMatch: (match: Field) => Errors): Errors {
  const policy = at(spec, 'policyName');
  return [
    ...(toText(policy.value) === '' ? [required(policy.path)] : checkText(policy, checkDnsSubdomain)),
    ...checkParamRef(at(spec, 'paramRef')), ...checkMatch(at(spec, 'matchResources')),
  ];
}

/** The spec of a binding. */
export const bindingSpecOf = (binding: KubeObject): Field => ({ path: 'spec', value: binding['spec'] ?? {} });
