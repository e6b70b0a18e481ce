// Which of the webhooks whose rules are about a request are called for it: namespace selector, object selector, match conditions, in upstream's order.
// Objects are converted to the form of a webhook when something first needs them so, once per form.
import { forbidden, internalError, loadPatternEngine } from '../../apimachinery/index.ts';
import { type AdmissionAttributes, groupResource } from '../../registry/index.ts';
import { type AskAccess, describeInput, evaluateConditions, joinErrors } from '../match/conditions.ts';
import { RequestForms } from '../match/request-forms.ts';
import { type ReadNamespace, matchesNamespace, matchesObject } from '../match/selectors.ts';
import type { Candidate } from './configurations.ts';

/** What matching needs. */
export interface MatchDependencies {
  readonly readNamespace: ReadNamespace;
  readonly askAccess: AskAccess;
}

/** Kinds whose requests no webhook sees, so that none can make itself unremovable; all are of admissionregistration.k8s.io. */
const exemptKinds: ReadonlySet<string> = new Set([
  'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding',
  'ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding',
]);

/** Whether no webhook sees requests of this kind. */
export const isExempt = ({ kind: { group, kind } }: AdmissionAttributes): boolean => group === 'admissionregistration.k8s.io' && exemptKinds.has(kind);

/** What conversion failures of a request become; the reference wraps them once where they happen and once more where they are met. */
function failConversion(error: unknown): never {
  throw internalError(internalError(error instanceof Error ? error.message : String(error)).message);
}

/** The webhooks of one request. */
export class RequestMatcher {
  readonly #attributes: AdmissionAttributes;
  readonly #dependencies: MatchDependencies;
  readonly forms: RequestForms;

  constructor(attributes: AdmissionAttributes, dependencies: MatchDependencies) {
    this.#attributes = attributes;
    this.#dependencies = dependencies;
    this.forms = new RequestForms(attributes, failConversion);
  }

  /** Whether a candidate is called. Throws when that cannot be said: its namespace is absent, or its conditions fail under failurePolicy Fail. */
  async isCalled({ webhook, form }: Candidate): Promise<boolean> {
    const selected = { ...this.#attributes, ...this.forms.selected };
    // Objects come first: those that the webhook is not about are not refused for an absent namespace.
    if (!matchesObject(webhook.objectSelector, selected)) return false;
    if (!(await matchesNamespace(webhook.namespaceSelector, selected, this.#dependencies.readNamespace))) return false;
    if (!webhook.hasConditions) return true;
    await loadPatternEngine();
    const input = describeInput(this.#attributes, await this.forms.convert(form), this.#dependencies.askAccess);
    const outcome = await evaluateConditions(webhook.conditions, input);
    if (outcome.type !== 'failed') return outcome.type === 'match';
    if (webhook.ignoresFailures) return false;
    throw forbidden(groupResource(this.#attributes.resource), this.#attributes.name, joinErrors(outcome.errors));
  }
}
