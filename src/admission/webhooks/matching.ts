// Which of the webhooks whose rules are about a request are called for it: namespace selector, object selector, match conditions, in upstream's order.
// Objects are converted to the form of a webhook when something first needs them so, once per form.
import { type KubeObject, type StatusError, forbidden, internalError } from '../../apimachinery/index.ts';
import type { MaybePromise } from '../../base/index.ts';
import { type AdmissionAttributes, groupResource } from '../../registry/index.ts';
import { type AskAccess, describeInput, evaluateConditions, joinErrors } from '../match/conditions.ts';
import { type ResourceForm, convertForm, requestedForm } from '../match/resource-forms.ts';
import { type ReadNamespace, matchesNamespace, matchesObject } from '../match/selectors.ts';
import type { Candidate } from './configurations.ts';
import type { FormedObjects } from './review.ts';

/** What matching needs. */
export interface MatchDependencies {
  readonly readNamespace: ReadNamespace;
  readonly askAccess: AskAccess;
}

/** Kinds whose requests no webhook sees, so that none can make itself unremovable; all are of admissionregistration.k8s.io. */
const EXEMPT_KINDS: ReadonlySet<string> = new Set([
  'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding',
  'ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding',
]);

/** Whether no webhook sees requests of this kind. */
export const isExempt = ({ kind: { group, kind } }: AdmissionAttributes): boolean => group === 'admissionregistration.k8s.io' && EXEMPT_KINDS.has(kind);

/** What conversion failures of a request become; the reference wraps them once where they happen and once more where they are met. */
function describeConversion(error: unknown): StatusError {
  return internalError(internalError(error instanceof Error ? error.message : String(error)).message);
}

const keyOf = ({ kind: { group, version, kind } }: ResourceForm): string => `${group}/${version}/${kind}`;

/** The objects of one request in the forms that its webhooks are sent; each conversion is made once. */
export class RequestForms {
  readonly #attributes: AdmissionAttributes;
  readonly #requested: ResourceForm;
  readonly #old = new Map<string, MaybePromise<KubeObject>>();
  readonly #new = new Map<string, MaybePromise<KubeObject>>();
  /** The object as the request brought it, or as the last webhook that changed it left it, and its form. */
  #object: KubeObject | undefined;
  #form: ResourceForm;

  constructor(attributes: AdmissionAttributes) {
    this.#attributes = attributes;
    this.#requested = requestedForm(attributes);
    this.#object = attributes.object;
    this.#form = this.#requested;
  }

  /** The objects in a form. Throws the 500 of a conversion that failed. */
  async convert(form: ResourceForm): Promise<FormedObjects> {
    try {
      return {
        form, object: await this.#convertOne(this.#object, { from: this.#form, form, known: this.#new }),
        oldObject: await this.#convertOne(this.#attributes.oldObject, { from: this.#requested, form, known: this.#old }),
      };
    } catch (error) {
      throw describeConversion(error);
    }
  }

  /** Goes on with what a webhook made of the object in a form. */
  replace(object: KubeObject, form: ResourceForm): void {
    [this.#object, this.#form] = [object, form];
    this.#new.clear();
  }

  /** Objects as selectors see them: labels are the same in all forms. */
  get selected(): { readonly object: KubeObject | undefined; readonly oldObject: KubeObject | undefined } {
    return { object: this.#object, oldObject: this.#attributes.oldObject };
  }

  #convertOne(object: KubeObject | undefined, { from, form, known }: {
    readonly from: ResourceForm; readonly form: ResourceForm; readonly known: Map<string, MaybePromise<KubeObject>>;
  }): MaybePromise<KubeObject | undefined> {
    if (object === undefined) return undefined;
    const converted = known.get(keyOf(form)) ?? convertForm(object, from, form);
    known.set(keyOf(form), converted);
    return converted;
  }
}

/** The webhooks of one request. */
export class RequestMatcher {
  readonly #attributes: AdmissionAttributes;
  readonly #dependencies: MatchDependencies;
  readonly forms: RequestForms;

  constructor(attributes: AdmissionAttributes, dependencies: MatchDependencies) {
    this.#attributes = attributes;
    this.#dependencies = dependencies;
    this.forms = new RequestForms(attributes);
  }

  /** Whether a candidate is called. Throws when that cannot be said: its namespace is absent, or its conditions fail under failurePolicy Fail. */
  async isCalled({ webhook, form }: Candidate): Promise<boolean> {
    const selected = { ...this.#attributes, ...this.forms.selected };
    // Objects come first: those that the webhook is not about are not refused for an absent namespace.
    if (!matchesObject(webhook.objectSelector, selected)) return false;
    if (!(await matchesNamespace(webhook.namespaceSelector, selected, this.#dependencies.readNamespace))) return false;
    if (webhook.conditions.length === 0) return true;
    const input = describeInput(this.#attributes, await this.forms.convert(form), this.#dependencies.askAccess);
    const outcome = await evaluateConditions(webhook.conditions, input);
    if (outcome.type !== 'failed') return outcome.type === 'match';
    if (webhook.ignoresFailures) return false;
    throw forbidden(groupResource(this.#attributes.resource), this.#attributes.name, joinErrors(outcome.errors));
  }
}
