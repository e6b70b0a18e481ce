// The strategy of CustomResourceDefinitions themselves, on top of what their row has already (defaults, storedVersions).
import { type Schema, internalError, loadPatternEngine } from '../../apimachinery/index.ts';
import { type Clock, limitTime, tooLong } from '../../base/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { type ValidateRules, validateSchemaRules } from '../validate/rules.ts';
import type { SchemaLimits } from '../validate/schema.ts';
import { beginTermination } from './termination.ts';
import {
  validateSchemasAhead, listFormatWarnings, noteEmptyVersions, validateDefinition, validateDefinitionStatus, validateDefinitionUpdate, validateName,
} from '../validate/definition.ts';

/** A step validates one default or rule: hostile ones would take minutes. */
const LONGEST_STEP_MS = 500;

function guard<T>(clock: Clock, step: () => T): T {
  const result = limitTime(clock, LONGEST_STEP_MS, step);
  if (result === tooLong) throw internalError('the definition needs more computation than is available to it');
  return result;
}

/** Completes the strategy of the built-in row. */
export function createDefinitionStrategy(base: Strategy, { clock, objectMeta, validateRules = validateSchemaRules }: {
  readonly clock: Clock; readonly objectMeta: Schema | undefined; readonly validateRules?: ValidateRules;
}): Strategy {
  const limits: SchemaLimits = { validateRules, objectMeta, guard: (step) => guard(clock, step) };
  return {
    ...base,
    applyDefaults(object, version, before) {
      noteEmptyVersions(object);
      base.applyDefaults?.(object, version, before);
    },
    async prepareValidation(object, { context, pause }) {
      if (context.subresource === 'status') return;
      await loadPatternEngine();
      await validateSchemasAhead(object, limits, pause);
    },
    validateName,
    validate: (object) => validateDefinition(object, validateRules),
    validateUpdate: (object, old, { subresource }) => (subresource === 'status' ? validateDefinitionStatus(object) : validateDefinitionUpdate(object, old,
      validateRules)),
    warnings: (object, old, { subresource }) => (subresource === 'status' ? [] : listFormatWarnings(object, old)),
    // Unlike those of other kinds, the status path takes metadata too.
    prepareForUpdate(object, old, context) {
      if (context.subresource !== 'status') base.prepareForUpdate?.(object, old, context);
    },
    terminate: beginTermination,
  };
}
