// Selectors of a request as authorizers see them: requirements that are joined by "and". Terms that cannot be read are left out, which can only
// widen the question that is asked. Mirrors the reference's AuthorizeWithSelectors.
import { type LabelRequirement, StatusError, parseFieldSelector, parseLabelSelector } from '../../apimachinery/index.ts';

/** One requirement, as SubjectAccessReviews spell it. */
export interface SelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** A selector: its requirements, and whether some of it could not be read. */
export interface RequestSelector {
  readonly requirements: readonly SelectorRequirement[];
  readonly hasProblem: boolean;
}

const labelOperators: Readonly<Partial<Record<LabelRequirement['operator'], string>>> = {
  '=': 'In', '==': 'In', in: 'In', '!=': 'NotIn', notin: 'NotIn', exists: 'Exists', '!': 'DoesNotExist',
};

/** Longer selectors are left out as a whole, so that a question takes little time. */
const MAX_LENGTH = 65_536;

/** Reads a field selector as queries spell it. */
export const readFieldSelector = (text: string): RequestSelector => readWith(text, () => parseFieldSelector(text).requirements
  .map(({ field, operator, value }) => ({ key: field, operator: operator === '=' ? 'In' : 'NotIn', values: [value] })));

/** Reads a label selector as queries spell it; comparisons of numbers have no operator in a review and are left out. */
export const readLabelSelector = (text: string): RequestSelector => readWith(text, () => parseLabelSelector(text).requirements.flatMap(spellRequirement));

function spellRequirement({ key, operator, values }: LabelRequirement): SelectorRequirement[] {
  const name = labelOperators[operator];
  return name === undefined ? [] : [{ key, operator: name, ...(values.length > 0 && { values }) }];
}

function readWith(text: string, parse: () => readonly SelectorRequirement[]): RequestSelector {
  if (text.length > MAX_LENGTH) return { requirements: [], hasProblem: true };
  try {
    return { requirements: parse(), hasProblem: false };
  } catch (error) {
    if (error instanceof StatusError) return { requirements: [], hasProblem: true };
    throw error;
  }
}

/** Keeps the requirements of a review that this server understands. */
export function understandRequirements(requirements: readonly SelectorRequirement[], isUnderstood: (one: SelectorRequirement) => boolean): RequestSelector {
  const understood = requirements.filter(isUnderstood);
  return { requirements: understood, hasProblem: understood.length < requirements.length };
}

/** Label requirements have four operators. */
export const isLabelRequirement = ({ operator }: SelectorRequirement): boolean => ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator);
/** Field requirements compare with one value. */
export const isFieldRequirement = ({ operator, values = [] }: SelectorRequirement): boolean =>
  (operator === 'In' || operator === 'NotIn') && values.length === 1;

/** Whether a field selector admits this value of a field only. */
export const requiresField = (selector: RequestSelector | undefined, field: string, value: string): boolean =>
  selector?.requirements.some(({ key, operator, values }) => key === field && operator === 'In' && values?.[0] === value) === true;
