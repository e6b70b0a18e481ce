// metav1.LabelSelector as text, for the columns that show one.
import {
  type MetaLabelSelector, checkLabelValue, checkQualifiedName, createLabelSelector, formatLabelSelector, labelSelectorOf,
} from '../../../apimachinery/index.ts';
import { toList, toObject, toObjects, toText } from '../values.ts';

/** Reads members of the right type only, so that a malformed stored selector cannot break a list. */
function readSelector(value: unknown): MetaLabelSelector {
  const selector = toObject(value);
  const labels = Object.entries(toObject(selector['matchLabels'])).map(([key, text]) => [key, toText(text)]);
  return {
    matchLabels: Object.fromEntries(labels) as Record<string, string>,
    matchExpressions: toObjects(selector['matchExpressions']).map((expression) => ({
      key: toText(expression['key']), operator: toText(expression['operator']), values: toList(expression['values']).map(toText),
    })),
  };
}

const isKey = (key: string): boolean => checkQualifiedName(key).length === 0;
const areValues = (values: readonly string[]): boolean => values.every((value) => checkLabelValue(value).length === 0);

/** Whether an expression is valid: a known operator with the right number of values. */
function isExpression({ key, operator, values = [] }: NonNullable<MetaLabelSelector['matchExpressions']>[number]): boolean {
  const wantsValues = operator === 'In' || operator === 'NotIn';
  if (!wantsValues && operator !== 'Exists' && operator !== 'DoesNotExist') return false;
  return isKey(key) && wantsValues === values.length > 0 && areValues(values);
}

/** The selector as text; undefined when it is malformed, which validation does not accept. */
function printSelector(value: unknown): string | undefined {
  if (value === undefined || value === null) return '';
  const given = readSelector(value);
  const labels = Object.entries(given.matchLabels ?? {});
  if (!labels.every(([key, text]) => isKey(key) && areValues([text])) || !given.matchExpressions?.every(isExpression)) return undefined;
  return formatLabelSelector(labelSelectorOf(given) ?? noSelector);
}

const noSelector = createLabelSelector([]);

/** `a=b,c in (d,e)` sorted by key, `<none>` when it selects nothing or everything. */
export function formatSelector(value: unknown): string {
  return (printSelector(value) ?? '<error>') || '<none>';
}

/** The selector as text, with the words that deployments print for none and for a malformed one. */
export function formatDeploymentSelector(value: unknown): string {
  return printSelector(value) ?? '<invalid>';
}

/** The selector in the form in which Go prints the struct; bindings of policies show that one. */
export function formatSelectorStruct(value: unknown): string {
  const { matchLabels, matchExpressions } = readSelector(value);
  const labels = Object.entries(matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, text]) => `${key}: ${text},`);
  const expressions = (matchExpressions ?? []).map(({ key, operator, values }) =>
    `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(' ')}],},`);
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
