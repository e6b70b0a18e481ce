// Validation of what a version has: schema, subresources, columns, selectable fields, deprecation.
import { type FieldError, type OpenAPIV3Schema, checkDns1035Label, duplicate, followPath, invalidValue, required, tooMany } from '../../apimachinery/index.ts';
import { finishSteps } from '../../base/index.ts';
import type { ColumnSpec } from '../columns.ts';
import type { DefinitionVersion, ScalePaths } from '../types.ts';
import type { SharedParts } from './internal-form.ts';
import type { ValidateRules } from './rules.ts';
import { validateSchema } from './schema.ts';
import { findUnsupported } from './structural.ts';

interface PartsOptions {
  readonly at: string;
  /** The parts stand in spec itself. */
  readonly shared: boolean;
  readonly statusEnabled: boolean;
  readonly validateRules: ValidateRules | undefined;
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const MAX_SELECTABLE_FIELDS = 8;
const MAX_WARNING_LENGTH = 256;

/** Problems of a version and of the parts that it does not share with the others. */
export function validateVersion(version: DefinitionVersion, own: SharedParts, options: PartsOptions): FieldError[] {
  const problems = checkDns1035Label(version.name ?? '');
  return [
    ...(problems.length > 0 ? [invalidValue(`${options.at}.name`, version.name ?? '', problems.join(','))] : []),
    ...validateWarning(version, `${options.at}.deprecationWarning`), ...validateParts(own, options),
  ];
}

/** Where the schema of parts stands. */
export const schemaPath = (at: string, shared: boolean): string => `${at}.${shared ? 'validation' : 'schema'}.openAPIV3Schema`;

/** Problems of parts, shared or not. */
export function validateParts(parts: SharedParts, options: PartsOptions): FieldError[] {
  const { at, shared, statusEnabled, validateRules } = options;
  const { schema, subresources, columns } = parts;
  return [
    ...(schema === undefined ? [] : validateSchema(schema, { at: schemaPath(at, shared), statusEnabled, validateRules })),
    ...(subresources?.scale === undefined ? [] : validateScale(subresources.scale, `${at}.subresources.scale`)),
    ...(columns ?? []).flatMap((column, i) => validateColumn(column, `${at}.additionalPrinterColumns[${i}]`)),
    ...validateSelectableFields(parts, options),
  ];
}

function validateWarning({ deprecated, deprecationWarning }: DefinitionVersion, field: string): FieldError[] {
  if (deprecationWarning === undefined) return [];
  const refuse = (why: string): FieldError[] => [invalidValue(field, deprecationWarning, why)];
  if (deprecated !== true) return refuse('can only be set for deprecated versions');
  if (deprecationWarning === '') return refuse('must not be an empty string');
  if (deprecationWarning.length > MAX_WARNING_LENGTH) return refuse(`must be <= ${MAX_WARNING_LENGTH} characters long`);
  const at = deprecationWarning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  return at < 0 ? [] : refuse(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
}

function checkSimplePath(path: string, field: string): FieldError | undefined {
  return path.startsWith('.') ? undefined : invalidValue(field, path, 'must be a simple json path starting with .');
}

function validateColumn({ name, type, format, jsonPath }: ColumnSpec, at: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!name) errors.push(required(`${at}.name`));
  if (!type) errors.push(required(`${at}.type`, `must be one of ${columnTypes.join(',')}`));
  else if (!columnTypes.includes(type)) errors.push(invalidValue(`${at}.type`, type, `must be one of ${columnTypes.join(',')}`));
  if (format && !columnFormats.includes(format)) errors.push(invalidValue(`${at}.format`, format, `must be one of ${columnFormats.join(',')}`));
  const wrong = jsonPath ? checkSimplePath(jsonPath, `${at}.JSONPath`) : required(`${at}.JSONPath`);
  return wrong === undefined ? errors : [...errors, wrong];
}

function validateScale(scale: ScalePaths, at: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (name: string, path: string | undefined, rule: { readonly roots: readonly string[]; readonly why: string }): void => {
    const field = `${at}.${name}`;
    if (!path) return;
    const wrong = checkSimplePath(path, field);
    if (wrong !== undefined) errors.push(wrong);
    else if (!rule.roots.some((root) => path.startsWith(root))) errors.push(invalidValue(field, path, rule.why));
  };
  if (!scale.specReplicasPath) errors.push(required(`${at}.specReplicasPath`));
  check('specReplicasPath', scale.specReplicasPath, { roots: ['.spec.'], why: 'should be a json path under .spec' });
  if (!scale.statusReplicasPath) errors.push(required(`${at}.statusReplicasPath`));
  check('statusReplicasPath', scale.statusReplicasPath, { roots: ['.status.'], why: 'should be a json path under .status' });
  check('labelSelectorPath', scale.labelSelectorPath, { roots: ['.spec.', '.status.'], why: 'should be a json path under either .spec or .status' });
  return errors;
}

/** A schema in which every name leads to a field: what is wrong with a path there is its form. */
const anything: { additionalProperties?: OpenAPIV3Schema } = {};
anything.additionalProperties = anything;

const scalarTypes = new Set(['string', 'boolean', 'integer']);

function validateSelectableFields(
  { selectableFields: fields = [], schema, isBlank = false }: SharedParts, { at: parent, shared }: PartsOptions,
): FieldError[] {
  if (fields.length === 0) return [];
  const at = `${parent}.selectableFields`;
  const isMissing = schema === undefined;
  if (isMissing && !(shared && isBlank)) {
    return [invalidValue(at, '', shared ? 'may only be set when validations.schema is included'
      : 'may only be set when `version.schema.openAPIV3Schema` is not included')];
  }
  const problem = isMissing ? undefined : finishSteps(findUnsupported(schema, new Map()));
  // The reference continues without a schema, and panics at a path that begins as one.
  const isUnread = isMissing || problem !== undefined;
  const followed = isUnread ? anything : schema;
  const seen = new Set<string>();
  const unread = problem === undefined ? [] : [invalidValue(`${parent}.schema.openAPIV3Schema`, '', problem)];
  const errors = fields.flatMap(({ jsonPath }, i) => {
    const field = `${at}[${i}].jsonPath`;
    if (!jsonPath) return [required(field)];
    const found = followPath(jsonPath, followed, { withoutBrackets: true });
    if (typeof found === 'string') return [invalidValue(field, jsonPath, `is an invalid path: ${found}`)];
    if (isUnread) return [];
    const wrong = checkSelectable(found).map((why) => invalidValue(field, jsonPath, why));
    if (seen.has(found.shown)) wrong.push(duplicate(field, jsonPath));
    seen.add(found.shown);
    return wrong;
  });
  // Paths that lead to a field are counted, whatever else is wrong with them.
  return seen.size > MAX_SELECTABLE_FIELDS ? [...unread, ...errors, tooMany(at, seen.size, MAX_SELECTABLE_FIELDS)] : [...unread, ...errors];
}

function checkSelectable({ shown, schema }: { readonly shown: string; readonly schema: OpenAPIV3Schema }): string[] {
  return [
    ...(shown.split(/[.[]/)[0] === 'metadata' ? ['must not point to fields in metadata'] : []),
    ...(scalarTypes.has(schema.type ?? '') ? []
      : ['must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.']),
  ];
}
