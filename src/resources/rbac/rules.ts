// Validation of the rules of Roles and ClusterRoles.
import { type FieldError, type KubeObject, checkPathSegment, invalidValue, required } from '../../apimachinery/index.ts';
import { type Errors, type Field, at } from '../common/validation/check.ts';
import { toList } from '../common/values.ts';

/** Validates a rule: verbs, and either resources or, in cluster roles, non-resource URLs. */
export function checkRule(rule: Field, namespaced: boolean): Errors {
  const list = (name: string): Field => at(rule, name);
  const isEmpty = (name: string): boolean => toList(list(name).value).length === 0;
  const errors: FieldError[] = isEmpty('verbs') ? [required(list('verbs').path, 'verbs must contain at least one value')] : [];
  if (!isEmpty('nonResourceURLs')) {
    const urls = list('nonResourceURLs');
    if (namespaced) errors.push(invalidValue(urls.path, urls.value, 'namespaced rules cannot apply to non-resource URLs'));
    const mixed = ['apiGroups', 'resources', 'resourceNames'].some((name) => !isEmpty(name));
    if (mixed) errors.push(invalidValue(urls.path, urls.value, 'rules cannot apply to both regular resources and non-resource URLs'));
    return errors;
  }
  if (isEmpty('apiGroups')) errors.push(required(list('apiGroups').path, 'resource rules must supply at least one api group'));
  if (isEmpty('resources')) errors.push(required(list('resources').path, 'resource rules must supply at least one resource'));
  return errors;
}

/** The prefix of a generated name has to be a name itself, unlike those of other kinds. */
export function checkGeneratedName({ metadata: { generateName = '' } }: KubeObject): readonly FieldError[] {
  if (generateName === '') return [];
  const asPrefix = checkPathSegment(generateName, true);
  return checkPathSegment(generateName).filter((why) => !asPrefix.includes(why)).map((why) => invalidValue('metadata.generateName', generateName, why));
}
