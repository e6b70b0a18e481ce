// The strategy of CustomResourceDefinitions themselves, on top of what their row has already (defaults, storedVersions).
import type { Strategy } from '../registry/index.ts';
import type { JudgeRules } from './validate-version.ts';
import { judgeSchemaRules } from './rules.ts';
import { beginTermination } from './terminating.ts';
import {
  judgeSchemasAhead, listFormatWarnings, noteEmptyVersions, validateDefinition, validateDefinitionStatus, validateDefinitionUpdate,
} from './validate.ts';

/** Completes the strategy of the built-in row. */
export function createDefinitionStrategy(base: Strategy, judgeRules: JudgeRules = judgeSchemaRules): Strategy {
  return {
    ...base,
    applyDefaults(object, version) {
      noteEmptyVersions(object);
      base.applyDefaults?.(object, version);
    },
    async prepareValidation(object, { context, pause }) {
      if (context.subresource !== 'status') await judgeSchemasAhead(object, judgeRules, pause);
    },
    validate: (object) => validateDefinition(object, judgeRules),
    validateUpdate: (object, old, { subresource }) => (subresource === 'status' ? validateDefinitionStatus(object) : validateDefinitionUpdate(object, old,
      judgeRules)),
    warnings: (object, old, { subresource }) => (subresource === 'status' ? [] : listFormatWarnings(object, old)),
    // Unlike those of other kinds, the status path takes metadata too.
    prepareForUpdate(object, old, context) {
      if (context.subresource !== 'status') base.prepareForUpdate?.(object, old, context);
    },
    terminate: beginTermination,
  };
}
