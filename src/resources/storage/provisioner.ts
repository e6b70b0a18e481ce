// What classes of storage say of volume drivers: their names, which are qualified names in any case, and their parameters.
import { byteLength, checkQualifiedName, invalidValue, required, tooLong } from '../../apimachinery/index.ts';
import { type Errors, type Field, isEmptyText } from '../common/validation/check.ts';
import { toObject, toText } from '../common/values.ts';

/** Validates the driver that a class names; the error shows it in lower case. Mirrors validateProvisioner of storage/v1. */
export function checkProvisioner(field: Field): Errors {
  if (isEmptyText(field)) return [required(field.path)];
  const lower = toText(field.value).replaceAll('İ', 'i').toLowerCase();
  return checkQualifiedName(lower).map((problem) => invalidValue(field.path, lower, problem));
}

const MAX_PARAMETERS = 512;
const MAX_PARAMETERS_BYTES = 256 * 1024;

/** Validates the parameters of a driver: their number, their names, and their size. */
export function checkParameters({ path, value }: Field): Errors {
  const parameters = Object.entries(toObject(value));
  if (parameters.length > MAX_PARAMETERS) return [tooLong(path, MAX_PARAMETERS)];
  const bytes = parameters.reduce((sum, [name, text]) => sum + byteLength(name) + byteLength(toText(text)), 0);
  return [
    ...(parameters.some(([name]) => name === '') ? [invalidValue(path, '', 'field can not be empty.')] : []),
    ...(bytes > MAX_PARAMETERS_BYTES ? [tooLong(path, MAX_PARAMETERS_BYTES)] : []),
  ];
}
