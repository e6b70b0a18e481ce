// Which of the webhooks whose rules are about a request are called for it: namespace selector, object selector, match conditions, in upstream's order.
// Objects are converted to the form of a webhook when something first needs them so, once per form.
import { forbidden, internalError, loadPatternEngine } from '../../apimachinery/index.ts';
import { type MaybePromise, createTimeSlice, mapMaybe } from '../../base/index.ts';
import { type AdmissionAttributes, groupResource } from '../../registry/index.ts';
import type { AdmissionMetrics, WebhookType } from '../metrics.ts';
import { describeInput, evaluateConditions, joinErrors } from '../match/conditions.ts';
import { type EvaluationDependencies, RequestEvaluation } from '../match/evaluation.ts';
import { RequestForms } from '../match/request-forms.ts';
import { type ReadNamespace, matchesNamespace, matchesObject, rememberNamespace } from '../match/selectors.ts';
import type { Candidate } from './configurations.ts';

/** What matching needs. */
export interface MatchDependencies extends EvaluationDependencies {
  readonly readNamespace: ReadNamespace;
  readonly metrics: AdmissionMetrics;
}

/** How long the conditions of one webhook may be compiled in one turn. */
const SLICE_MS = 10;

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
  readonly #readNamespace: ReadNamespace;
  readonly #evaluation: RequestEvaluation;
  #selected: AdmissionAttributes | undefined;

  constructor(attributes: AdmissionAttributes, type: WebhookType, dependencies: MatchDependencies) {
    this.#attributes = attributes;
    this.#type = type;
    this.#dependencies = dependencies;
    this.forms = new RequestForms(attributes, failConversion);
    this.#readNamespace = rememberNamespace(dependencies.readNamespace);
    this.#evaluation = new RequestEvaluation(dependencies, attributes);
  }

  /**
   * Whether a candidate is called: known in this turn where its conditions need not be asked. Throws when that cannot be said: its namespace is
   * absent, or its conditions fail under failurePolicy Fail.
   */
  isCalled(candidate: Candidate): MaybePromise<boolean> {
    const { webhook } = candidate;
    const selected = this.#readSelected();
    // Objects come first: those that the webhook is not about are not refused for an absent namespace.
    if (!matchesObject(webhook.objectSelector, selected)) return false;
    const isSelected = matchesNamespace(webhook.namespaceSelector, selected, this.#readNamespace);
    return webhook.conditions.length > 0 ? mapMaybe(isSelected, (isTrue) => isTrue && this.#meetsConditions(candidate)) : isSelected;
  }

  /** The request with the objects that selectors are about; patches of webhooks change them. */
  #readSelected(): AdmissionAttributes {
    const { selected } = this.forms;
    if (this.#selected?.object !== selected.object || this.#selected?.oldObject !== selected.oldObject) this.#selected = { ...this.#attributes, ...selected };
    return this.#selected as AdmissionAttributes;
  }

  async #meetsConditions({ webhook, form }: Candidate): Promise<boolean> {
    await loadPatternEngine();
    const input = describeInput(this.#attributes, await this.forms.convert(form));
    const { clock, metrics } = this.#dependencies;
    const startedMs = clock.monotonicMs();
    const conditions = await webhook.prepareConditions(createTimeSlice(clock, SLICE_MS));
    const outcome = await this.#evaluation.evaluate((known) => evaluateConditions(conditions, known),
      { sort: 'validating', group: 'conditions', spec: { matchConditions: webhook.conditions }, input }, { asksAuthorizer: true });
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
