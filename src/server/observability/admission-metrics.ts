// The metrics of admission under upstream's names: steps, plugins and webhooks with their durations, calls by code, rejections, failures passed over.
import type { AdmissionMetrics, AdmissionStep, PolicyCheck, RecordStep } from '../../admission/index.ts';
import { formatLabels, renderCounter } from './metrics.ts';

/** The numbers of one server. */
export interface CountedAdmission extends AdmissionMetrics {
  /** All of them as lines. */
  render(): string[];
}

/** Webhook names are chosen by users: beyond this many label sets of a metric nothing new is counted. */
const MAX_SERIES = 2000;
const pluginBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
const webhookBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
const conditionBuckets = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const checkBuckets = [0.0000005, 0.001, 0.01, 0.1, 1];

/** As Go prints numbers: exponents have two digits. */
const formatBound = (bound: number): string => String(bound).replace(/e-(\d)$/, 'e-0$1');

interface Durations {
  readonly counts: number[];
  sumSeconds: number;
  count: number;
}

class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #buckets: readonly number[];
  readonly #series = new Map<string, Durations>();

  constructor({ name, help, buckets }: { readonly name: string; readonly help: string; readonly buckets: readonly number[] }) {
    this.#name = name;
    this.#help = help;
    this.#buckets = buckets;
  }

  record(labels: string, durationMs: number): void {
    let series = this.#series.get(labels);
    if (series === undefined) {
      if (this.#series.size >= MAX_SERIES) return;
      this.#series.set(labels, (series = { counts: this.#buckets.map(() => 0), sumSeconds: 0, count: 0 }));
    }
    const seconds = durationMs / 1000;
    const bucket = this.#buckets.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sumSeconds += seconds;
    series.count += 1;
  }

  render(): string[] {
    const lines = [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} histogram`];
    for (const [labels, { counts, sumSeconds, count }] of this.#series) {
      let total = 0;
      for (const [index, bound] of this.#buckets.entries()) {
        total += counts[index] as number;
        lines.push(`${this.#name}_bucket{${labels},le="${formatBound(bound)}"} ${total}`);
      }
      lines.push(`${this.#name}_bucket{${labels},le="+Inf"} ${count}`, `${this.#name}_sum{${labels}} ${sumSeconds}`, `${this.#name}_count{${labels}} ${count}`);
    }
    return lines;
  }
}

class Counter {
  readonly #values = new Map<string, number>();

  add(labels: string | Readonly<Record<string, string>>, count = 1): void {
    const key = typeof labels === 'string' ? labels : formatLabels(labels);
    const before = this.#values.get(key);
    if (before !== undefined || this.#values.size < MAX_SERIES) this.#values.set(key, (before ?? 0) + count);
  }

  render(name: string, help: string): string[] {
    return renderCounter(name, help, [...this.#values]);
  }
}

/** Upstream counts rejections by codes up to 600. */
const MAX_CODE = 600;
const codeOf = (code: number): string => String(Math.min(code, MAX_CODE));

/** Counts the runs of a step, whose label texts are made once. */
function countStep(histogram: Histogram, { name, type }: AdmissionStep): RecordStep {
  const labelsOf = (operation: string, rejected: boolean): string =>
    formatLabels({ ...(name !== undefined && { name }), operation, rejected: String(rejected), type });
  const known = { admitted: new Map<string, string>(), rejected: new Map<string, string>() };
  return (operation, rejected, durationMs) => {
    const texts = rejected ? known.rejected : known.admitted;
    let labels = texts.get(operation);
    if (labels === undefined) texts.set(operation, (labels = labelsOf(operation, rejected)));
    histogram.record(labels, durationMs);
  };
}

/** Label texts of calls of webhooks: of the duration, and of the count, which has the code too. */
function createCallLabels(): (call: Parameters<AdmissionMetrics['recordWebhook']>[0]) => { readonly duration: string; readonly request: string } {
  const known = new Map<string, { readonly duration: string; readonly request: string }>();
  return ({ name, type, operation, code, rejected }) => {
    const key = `${name}/${type}/${operation}/${rejected}/${code}`;
    let labels = known.get(key);
    if (labels === undefined) {
      const common = { name, operation, rejected: String(rejected), type };
      labels = { duration: formatLabels(common), request: formatLabels({ code: codeOf(code), ...common }) };
      if (known.size < MAX_SERIES) known.set(key, labels);
    }
    return labels;
  };
}

/** As upstream sorts failures of expressions: by how their message begins. */
function sortFailure(failure: string): string {
  if (failure === '') return 'no_error';
  if (failure.startsWith('compilation')) return 'compile_error';
  return failure.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error';
}

/** The checks of policies of one sort. */
class Checks {
  readonly #name: string;
  readonly #total = new Counter();
  readonly #durations: Histogram;

  constructor(sort: 'validating' | 'mutating') {
    this.#name = `apiserver_${sort}_admission_policy_check`;
    this.#durations = new Histogram({ name: `${this.#name}_duration_seconds`, help: `Time of the expressions of ${sort} policies.`, buckets: checkBuckets });
  }

  record({ policy, binding, failure, action, durationMs }: PolicyCheck): void {
    const labels = { ...(action !== undefined && { enforcement_action: action }), error_type: sortFailure(failure), policy, policy_binding: binding };
    this.#total.add(labels);
    this.#durations.record(formatLabels(labels), durationMs);
  }

  render(): string[] {
    return [...this.#total.render(`${this.#name}_total`, 'Decisions of policies.'), ...this.#durations.render()];
  }
}

/** The match conditions that kept webhooks and policies from being asked. */
class Conditions {
  readonly #errors = new Counter();
  readonly #exclusions = new Counter();
  readonly #durations = new Histogram({
    name: 'apiserver_admission_match_condition_evaluation_seconds', help: 'Time of match conditions that did not hold.', buckets: conditionBuckets,
  });

  record({ kind, name, type, operation, durationMs, errors, isExcluded }: Parameters<AdmissionMetrics['recordConditions']>[0]): void {
    const labels = { kind, name, operation, type };
    this.#durations.record(formatLabels(labels), durationMs);
    if (errors > 0) this.#errors.add(labels, errors);
    // Upstream names the phase here, and the sort of webhook elsewhere.
    if (isExcluded && kind === 'webhook') this.#exclusions.add({ ...labels, type: type === 'admit' ? 'admit' : 'validate' });
  }

  render(): string[] {
    return [
      ...this.#errors.render('apiserver_admission_match_condition_evaluation_errors_total', 'Match conditions that could not be evaluated.'),
      ...this.#exclusions.render('apiserver_admission_match_condition_exclusions_total', 'Webhooks that were not called because of match conditions.'),
      ...this.#durations.render(),
    ];
  }
}

/** Starts at zero. */
export function createAdmissionMetrics(): CountedAdmission {
  const measure = (what: string, help: string, buckets = pluginBuckets): Histogram =>
    new Histogram({ name: `apiserver_admission_${what}_admission_duration_seconds`, help, buckets });
  const [steps, plugins] = [measure('step', 'Time of all plugins of a request.'), measure('controller', 'Time of one plugin.')];
  const webhooks = measure('webhook', 'Time of one webhook.', webhookBuckets);
  const [requests, rejections, openings] = [new Counter(), new Counter(), new Counter()];
  const [conditions, validatingChecks, mutatingChecks] = [new Conditions(), new Checks('validating'), new Checks('mutating')];
  const labelCall = createCallLabels();
  return {
    countStep: (step) => countStep(step.name === undefined ? steps : plugins, step),
    recordWebhook(call) {
      const { duration, request } = labelCall(call);
      webhooks.record(duration, call.durationMs);
      requests.add(request);
    },
    recordRejection: ({ name, type, operation, cause, code }) =>
      rejections.add({ error_type: cause, name, operation, rejection_code: codeOf(code), type }),
    recordFailOpen: ({ name, type }) => openings.add({ name, type }),
    recordConditions: (record) => conditions.record(record),
    recordPolicyCheck: (check) => (check.action === undefined ? mutatingChecks : validatingChecks).record(check),
    render: () => [
      ...steps.render(), ...plugins.render(), ...webhooks.render(),
      ...requests.render('apiserver_admission_webhook_request_total', 'Calls of webhooks.'),
      ...rejections.render('apiserver_admission_webhook_rejection_count', 'Requests that webhooks ended.'),
      ...openings.render('apiserver_admission_webhook_fail_open_count', 'Failures of webhooks that were passed over.'),
      ...conditions.render(), ...validatingChecks.render(), ...mutatingChecks.render(),
    ],
  };
}
