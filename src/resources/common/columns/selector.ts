// metav1.LabelSelector as text, for the columns that show one.
import {
  type MetaLabelSelector, checkLabelValue, checkQualifiedName, createLabelSelector, formatLabelSelector, labelSelectorOf,
} from '../../../apimachinery/index.ts';
import { toList, toObject, toObjects, toText } from '../values.ts';

/** Only what is of the right type, so that a malformed stored selector cannot break a list. */
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

/** Whether an expression can be asked of labels: known operators, with as many values as they want. */
function isExpression({ key, operator, values = [] }: NonNullable<MetaLabelSelector['matchExpressions']>[number]): boolean {
  const wantsValues = operator === 'In' || operator === 'NotIn';
  if (!wantsValues && operator !== 'Exists' && operator !== 'DoesNotExist') return false;
  return isKey(key) && wantsValues === values.length > 0 && areValues(values);
}

/** The selector as text; undefined when it is none, which validation does not let into the store. */
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

/** The same with the words of deployments. */
export function formatDeploymentSelector(value: unknown): string {
  return printSelector(value) ?? '<invalid>';
}

/** The selector as Go prints the struct, which is how bindings of policies show one. */
export function formatSelectorStruct(value: unknown): string {
  const { matchLabels, matchExpressions } = readSelector(value);
  const labels = Object.entries(matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, text]) => `${key}: ${text},`);
  const expressions = (matchExpressions ?? []).map(({ key, operator, values }) =>
    `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(' ')}],},`);
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
