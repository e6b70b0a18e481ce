// Which requests a policy or a binding is about: rules with resource names, exclusions, selectors. What depends on where a request points only is
// looked up once per such place; names and selectors are compared for each request. Mirrors upstream's policy matching.Matcher.
import { type LabelSelector, type MetaLabelSelector, createLabelSelector, labelSelectorOf } from '../../apimachinery/index.ts';
import type { AdmissionAttributes, Catalog } from '../../registry/index.ts';
import { type ResourceForm, otherForms, requestedForm } from '../match/resource-forms.ts';
import { type MatchRule, type RulePoint, matchesRule, pointOf } from '../match/rules.ts';
import { type ReadNamespace, matchesNamespace, matchesObject } from '../match/selectors.ts';

interface NamedRule extends MatchRule {
  readonly resourceNames?: readonly string[] | null;
}

/** What a request must be like, as policies and bindings state it. */
export interface MatchResources {
  readonly namespaceSelector?: MetaLabelSelector | null;
  readonly objectSelector?: MetaLabelSelector | null;
  readonly resourceRules?: readonly NamedRule[] | null;
  readonly excludeResourceRules?: readonly NamedRule[] | null;
  readonly matchPolicy?: string;
}

/** The same, ready to be compared. */
export interface Criteria {
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly rules: readonly NamedRule[];
  readonly excluded: readonly NamedRule[];
  readonly matchPolicy: string | undefined;
}

/** A form that a rule is about, and the names of the objects that the rule is limited to. */
interface NamedForm {
  readonly form: ResourceForm;
  readonly names: readonly string[] | undefined;
}

/** Criteria at one place that requests point to. */
export interface PlacedCriteria {
  readonly criteria: Criteria;
  readonly forms: readonly NamedForm[];
  readonly excluded: readonly NamedForm[];
}

const everything = createLabelSelector([]);

/** Compiles criteria; nothing given is about everything. */
export function compileCriteria(resources: MatchResources | null | undefined): Criteria {
  const { namespaceSelector, objectSelector, resourceRules, excludeResourceRules, matchPolicy } = resources ?? {};
  return {
    namespaceSelector: labelSelectorOf(namespaceSelector) ?? everything, objectSelector: labelSelectorOf(objectSelector) ?? everything,
    rules: resourceRules ?? [], excluded: excludeResourceRules ?? [], matchPolicy,
  };
}

/** Where requests point, and the forms that their resource has: the same objects for all policies. */
interface RequestPoint {
  readonly point: RulePoint;
  readonly requested: ResourceForm;
  readonly others: readonly ResourceForm[];
}

/** The place that a request points to. */
export function listPlace(attributes: AdmissionAttributes, catalog: Pick<Catalog, 'resources'>): RequestPoint {
  return { point: pointOf(attributes), requested: requestedForm(attributes), others: [...otherForms(catalog, attributes)] };
}

/** Forms that rules are about, in the order in which the reference looks at them: the one asked for, then, for Equivalent, the others rule by rule. */
function listForms(rules: readonly NamedRule[], matchPolicy: string | undefined, { point, requested, others }: RequestPoint): NamedForm[] {
  const namesOf = ({ resourceNames }: NamedRule) => (resourceNames?.length ? resourceNames : undefined);
  const found = rules.filter((rule) => matchesRule(rule, point)).map((rule): NamedForm => ({ form: requested, names: namesOf(rule) }));
  if (matchPolicy !== 'Equivalent') return found;
  for (const rule of rules) {
    for (const form of others) {
      const { resource: { group, plural: resource }, version } = form;
      if (matchesRule(rule, { ...point, group, resource, version })) found.push({ form, names: namesOf(rule) });
    }
  }
  return found;
}

/** Criteria at a place; undefined where they match no request. */
export function placeCriteria(criteria: Criteria, place: RequestPoint): PlacedCriteria | undefined {
  const { rules, excluded, matchPolicy } = criteria;
  const forms = rules.length === 0 ? [{ form: place.requested, names: undefined }] : listForms(rules, matchPolicy, place);
  if (forms.length === 0) return undefined;
  const exclusions = listForms(excluded, matchPolicy, place);
  return exclusions.some(({ names }) => names === undefined) ? undefined : { criteria, forms, excluded: exclusions };
}

/** The form in which a request matches; undefined when it does not. Throws when the namespace that decides is absent. */
export async function matchCriteria({ criteria, forms, excluded }: PlacedCriteria, attributes: AdmissionAttributes,
  readNamespace: ReadNamespace): Promise<ResourceForm | undefined> {
  const isNamed = ({ names }: NamedForm): boolean => names === undefined || names.includes(attributes.name);
  if (excluded.some(isNamed)) return undefined;
  const form = forms.find(isNamed)?.form;
  if (form === undefined || !matchesObject(criteria.objectSelector, attributes)) return undefined;
  return await matchesNamespace(criteria.namespaceSelector, attributes, readNamespace) ? form : undefined;
}
