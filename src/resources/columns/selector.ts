// metav1.LabelSelector as text, for the columns that show one.
import { type MetaLabelSelector, formatLabelSelector, labelSelectorOf } from '../../apimachinery/index.ts';
import { toList, toObject, toObjects, toText } from './common.ts';

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

/** `a=b,c in (d,e)` sorted by key, `<none>` when it selects nothing or everything. */
export function formatSelector(value: unknown): string {
  if (value === undefined || value === null) return '<none>';
  const selector = labelSelectorOf(readSelector(value));
  const text = selector === undefined ? '' : formatLabelSelector(selector);
  return text === '' ? '<none>' : text;
}
