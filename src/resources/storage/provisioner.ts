// Names of volume drivers as classes of storage name them: qualified names in any case.
import { checkQualifiedName, invalidValue, required } from '../../apimachinery/index.ts';
import { type Errors, type Field, isEmptyText } from '../common/validation/check.ts';
import { toText } from '../common/values.ts';

/** Validates the driver that a class names; the error shows it in lower case. Mirrors validateProvisioner of storage/v1. */
export function checkProvisioner(field: Field): Errors {
  if (isEmptyText(field)) return [required(field.path)];
  const lower = toText(field.value).toLowerCase();
  return checkQualifiedName(lower).map((problem) => invalidValue(field.path, lower, problem));
}
