// Taints of nodes, of their spec and of the annotation that older releases wrote.
import {
  type FieldError, type KubeObject, checkLabelValue, checkQualifiedName, invalidValue, notSupported, quoteValue, required,
} from '../../../apimachinery/index.ts';
import { type Errors, type Field, at, checkText, each } from '../../common/validation/check.ts';
import { readPath, toText } from '../../common/values.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function checkTaint(taint: Field, known: Set<string>): Errors {
  const value = at(taint, 'value');
  const effect = at(taint, 'effect');
  const key = toText(readPath(taint.value, 'key'));
  const text = toText(effect.value);
  const problems = checkLabelValue(toText(value.value));
  const errors: FieldError[] = [...checkText(at(taint, 'key'), checkQualifiedName)];
  if (problems.length > 0) errors.push(invalidValue(value.path, value.value, problems.join(';')));
  if (text === '') errors.push(required(effect.path));
  else if (!effects.includes(text)) errors.push(notSupported(effect.path, text, effects, true));
  const id = `${text} ${key}`;
  if (known.has(id)) {
    const shown = { Key: key, Value: toText(value.value), Effect: text, TimeAdded: readPath(taint.value, 'timeAdded') ?? null };
    errors.push({
      reason: 'FieldValueDuplicate', field: taint.path, message: `Duplicate value: ${quoteValue(shown)}: taints must be unique by key and effect pair`,
    });
  }
  known.add(id);
  return errors;
}

/** Validates a list of taints. */
export function checkTaints(list: Field): Errors {
  const known = new Set<string>();
  return each(list).flatMap((taint) => checkTaint(taint, known));
}

/** The taints of a node; errors have the path that the reference gives them. */
export const taintsOf = (node: KubeObject): Field => ({ path: 'metadata.taints', value: readPath(node, 'spec', 'taints') });
