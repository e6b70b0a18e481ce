// metav1.LabelSelector: validation, and whether a selector matches the labels of a template.
import {
  type FieldError, type JsonObject, checkLabelValue, checkQualifiedName, forbiddenField, invalidTyped, labelSelectorOf, matchesRequirement, required,
} from '../../../apimachinery/index.ts';
import { readPath, toList, toObject, toObjects, toText } from '../values.ts';
import { type Errors, type Field, at, checkText, each } from './check.ts';

/** metav1.LabelSelector: operators, the values they need, and the syntax of keys and values. */
export function checkSelector(selector: Field): Errors {
  const labels = at(selector, 'matchLabels');
  return [
    ...Object.entries(toObject(labels.value)).flatMap(([key, value]) => [
      ...checkText({ path: labels.path, value: key }, checkQualifiedName), ...checkText({ path: labels.path, value }, checkLabelValue),
    ]),
    ...each(at(selector, 'matchExpressions')).flatMap(checkExpression),
  ];
}

function checkExpression(expression: Field): Errors {
  const values = at(expression, 'values');
  const count = toList(values.value).length;
  const operator = at(expression, 'operator');
  const errors: FieldError[] = [];
  switch (operator.value) {
    case 'In':
    case 'NotIn':
      if (count === 0) errors.push(required(values.path, "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (count > 0) errors.push(forbiddenField(values.path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      break;
    default:
      errors.push(invalidTyped(operator.path, toText(operator.value), 'not a valid selector operator'));
  }
  return [
    ...errors, ...checkText(at(expression, 'key'), checkQualifiedName), ...each(values).flatMap((value) => checkText(value, checkLabelValue)),
  ];
}

/** Whether a selector has no requirements. */
export function isEmptySelector(selector: unknown): boolean {
  return Object.keys(toObject(readPath(selector, 'matchLabels'))).length === 0 && toObjects(readPath(selector, 'matchExpressions')).length === 0;
}

/** Whether a selector is valid; an invalid one selects nothing, and validation reports it. */
export function isSelectable(selector: unknown): boolean {
  return checkSelector({ path: '', value: selector }).length === 0;
}

/** Whether the labels of a template satisfy the selector; an absent selector selects nothing. */
export function selects(selector: unknown, labels: JsonObject): boolean {
  const parsed = labelSelectorOf(selector === undefined || selector === null ? undefined : toObject(selector));
  return parsed !== undefined && parsed.requirements.every((requirement) => matchesRequirement(requirement, labels as Record<string, string>));
}
