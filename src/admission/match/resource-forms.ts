// The forms of one resource: other served versions of it, and other groups that show the same objects (Events). With matchPolicy Equivalent a rule
// about one form is about requests to all of them, and objects are converted to the form that it names. Mirrors upstream's EquivalentResourceMapper.
import { type KubeObject, formatGroupVersion, parseGroupVersion } from '../../apimachinery/index.ts';
import {
  type AdmissionAttributes, type Catalog, type GroupVersionKind, type Resource, cloneJson, convertObject, subresourcesIn, versionIn,
} from '../../registry/index.ts';
import { type MatchRule, type RulePoint, matchesRule } from './rules.ts';

/** A resource in one of its versions, and the kind of the objects that a request to it shows. */
export interface ResourceForm {
  readonly resource: Resource;
  readonly version: string;
  readonly kind: GroupVersionKind;
}

/** The objects of a request in one form. */
export interface FormedObjects {
  readonly form: ResourceForm;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
}

const storageOf = ({ storedAs, group, plural }: Resource): string => storedAs ?? `${group}/${plural}`;

/** The form in a version; undefined where that version does not have the subresource. */
function createForm(resource: Resource, version: string, subresource: string): ResourceForm | undefined {
  const own = { group: resource.group, version, kind: resource.kind };
  if (subresource === '') return { resource, version, kind: own };
  const found = subresourcesIn(resource, version).find(({ name }) => name === subresource);
  return found && { resource, version, kind: found.kind ?? own };
}

/** The form that a request asked for. */
export const requestedForm = ({ resource, version, kind }: AdmissionAttributes): ResourceForm => ({ resource, version, kind });

/** The other forms of the resource of a request. */
export function* otherForms(catalog: Pick<Catalog, 'resources'>, { resource, version, subresource }: AdmissionAttributes): Generator<ResourceForm> {
  const storage = storageOf(resource);
  for (const row of catalog.resources()) {
    if (storageOf(row) !== storage) continue;
    for (const { name, served } of row.versions) {
      if (!served || (row === resource && name === version)) continue;
      const form = createForm(row, name, subresource);
      if (form !== undefined) yield form;
    }
  }
}

interface FormChoice {
  readonly rules: readonly MatchRule[];
  readonly matchPolicy: string;
  readonly point: RulePoint;
  readonly catalog: Pick<Catalog, 'resources'>;
}

/** The form of the request's resource that the rules are about: the one asked for if they name it, else, for Equivalent, the first that a rule names. */
export function findForm(attributes: AdmissionAttributes, { rules, matchPolicy, point, catalog }: FormChoice): ResourceForm | undefined {
  if (rules.some((rule) => matchesRule(rule, point))) return requestedForm(attributes);
  if (matchPolicy !== 'Equivalent') return undefined;
  const forms = [...otherForms(catalog, attributes)];
  for (const rule of rules) {
    const form = forms.find(({ resource, version }) => matchesRule(rule, { ...point, group: resource.group, resource: resource.plural, version }));
    if (form !== undefined) return form;
  }
  return undefined;
}

const sameKind = (a: GroupVersionKind, b: GroupVersionKind): boolean => a.kind === b.kind && a.version === b.version && a.group === b.group;

/** An object of one form in another; the object itself where both show the same kind. Rejects with the Status of a conversion that failed. */
export async function convertForm(object: KubeObject, from: ResourceForm, to: ResourceForm): Promise<KubeObject> {
  if (sameKind(from.kind, to.kind)) return object;
  const { resource } = from;
  if (resource !== to.resource) {
    const versions = [from, to].map((form) => formatGroupVersion({ group: form.resource.group, version: form.version })) as [string, string];
    return (resource.convert ?? to.resource.convert)?.(cloneJson(object), ...versions) ?? object;
  }
  if (resource.convertRemotely === undefined) return convertObject(resource, cloneJson(object), { from: from.version, to: to.version });
  const [converted] = await resource.convertRemotely([cloneJson(object)], to.version);
  return converted as KubeObject;
}

/** The form that an object says it has, among those of a resource. */
export function formOf(object: KubeObject, known: ResourceForm): ResourceForm | undefined {
  const parsed = parseGroupVersion(object.apiVersion ?? '');
  if (parsed === undefined || object.kind !== known.kind.kind || parsed.group !== known.kind.group) return undefined;
  if (parsed.version === known.kind.version) return known;
  const isServed = versionIn(known.resource, parsed.version)?.served === true;
  return isServed ? { ...known, version: parsed.version, kind: { ...known.kind, version: parsed.version } } : undefined;
}
