// Which of the webhooks whose rules are about a request are called for it: namespace selector, object selector, match conditions, in upstream's order.
// Objects are converted to the form of a webhook when something first needs them so, once per form.
import { forbidden, internalError, loadPatternEngine } from '../../apimachinery/index.ts';
import type { Clock } from '../../base/index.ts';
import { type AdmissionAttributes, groupResource } from '../../registry/index.ts';
import type { AdmissionMetrics, WebhookType } from '../metrics.ts';
import { describeInput, evaluateConditions, joinErrors } from '../match/conditions.ts';
import { type AskAccess, Decisions, createAsk } from '../match/decisions.ts';
import { RequestForms } from '../match/request-forms.ts';
import { type ReadNamespace, matchesNamespace, matchesObject } from '../match/selectors.ts';
import type { Candidate } from './configurations.ts';

/** What matching needs. */
export interface MatchDependencies {
  readonly readNamespace: ReadNamespace;
  readonly askAccess: AskAccess;
  readonly clock: Clock;
  readonly metrics: AdmissionMetrics;
}

/** What conversion failures of a request become; the reference wraps them once where they happen and once more where they are met. */
function failConversion(error: unknown): never {
  throw internalError(internalError(error instanceof Error ? error.message : String(error)).message);
}

/** The webhooks of one request. */
export class RequestMatcher {
  readonly #attributes: AdmissionAttributes;
  readonly #type: WebhookType;
  readonly #dependencies: MatchDependencies;
  readonly forms: RequestForms;

  constructor(attributes: AdmissionAttributes, type: WebhookType, dependencies: MatchDependencies) {
    this.#attributes = attributes;
    this.#type = type;
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
    const input = describeInput(this.#attributes, await this.forms.convert(form));
    const { clock, metrics, askAccess } = this.#dependencies;
    const startedMs = clock.monotonicMs();
    const decisions = new Decisions(createAsk(this.#attributes, askAccess));
    const outcome = await decisions.run((authorize) => evaluateConditions(webhook.conditions, { ...input, authorize }));
    if (outcome.type === 'match') return true;
    const errors = outcome.type === 'failed' ? outcome.errors : [];
    const isExcluded = errors.length === 0 || webhook.ignoresFailures;
    metrics.recordConditions({
      kind: 'webhook', name: webhook.name, type: this.#type, operation: this.#attributes.operation, durationMs: clock.monotonicMs() - startedMs,
      errors: errors.length, isExcluded,
    });
    if (isExcluded) return false;
    throw forbidden(groupResource(this.#attributes.resource), this.#attributes.name, joinErrors(errors));
  }
}
