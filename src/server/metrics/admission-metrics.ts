// The metrics of admission under upstream's names: steps, plugins and webhooks with their durations, calls by code, rejections, failures passed over.
import type { AdmissionMetrics, AdmissionStep, PodSecurityRecord, PolicyCheck, RecordStep } from '../../admission/index.ts';
import { type Counter, type Histogram, MetricRegistry, formatLabels } from './metric.ts';

/** The numbers of one server. */
export interface CountedAdmission extends AdmissionMetrics {
  /** Where other parts of admission add theirs. */
  readonly registry: MetricRegistry;
  /** All of them as lines. */
  render(): string[];
}

const pluginBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
const webhookBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
const conditionBuckets = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const checkBuckets = [0.0000005, 0.001, 0.01, 0.1, 1];
/** Label texts of calls that are remembered: names are chosen by users. */
const MAX_CALLS = 2000;
const expressionBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

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
    histogram.observe(labels, durationMs / 1000);
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
      if (known.size < MAX_CALLS) known.set(key, labels);
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

/** Upstream words the two sorts on their own. */
const checkHelp = {
  validating: {
    stability: 'BETA', total: 'Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.',
    duration: 'Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding '
      + 'and enforcement action taken.',
  },
  mutating: {
    stability: 'ALPHA', total: 'Mutation admission policy check total, labeled by policy and further identified by binding.',
    duration: 'Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding.',
  },
} as const;

type CountCheck = (check: PolicyCheck) => void;

/** Counts the checks of policies of one sort. */
function createChecks(registry: MetricRegistry, sort: 'validating' | 'mutating'): CountCheck {
  const name = `apiserver_${sort}_admission_policy_check`;
  const { stability, total: totalHelp, duration } = checkHelp[sort];
  const total = registry.counter({ name: `${name}_total`, stability, help: totalHelp });
  const durations = registry.histogram({ name: `${name}_duration_seconds`, stability, bounds: checkBuckets, help: duration });
  return ({ policy, binding, failure, action, durationMs }) => {
    const labels = formatLabels({
      ...(action !== undefined && { enforcement_action: action }), error_type: sortFailure(failure), policy, policy_binding: binding,
    });
    total.add(labels);
    durations.observe(labels, durationMs / 1000);
  };
}

/** Counts what Pod Security decides; the usual series are there before anything happens, as in the reference. */
function createPodSecurity(registry: MetricRegistry): AdmissionMetrics['recordPodSecurity'] {
  const evaluations = registry.counter({
    name: 'pod_security_evaluations_total', stability: 'ALPHA', help: 'Number of policy evaluations that occurred, not counting ignored or exempt requests.',
  });
  const exemptions = registry.counter({
    name: 'pod_security_exemptions_total', stability: 'ALPHA', help: 'Number of exempt requests, not counting ignored or out of scope requests.',
  });
  const record = ({ operation, resource, subresource, evaluation }: PodSecurityRecord, count = 1): void => {
    const subject = { request_operation: operation, resource, subresource };
    if (evaluation === undefined) return exemptions.add(formatLabels(subject), count);
    const { decision, mode, level, version } = evaluation;
    return evaluations.add(formatLabels({ decision, mode, policy_level: level, policy_version: version, ...subject }), count);
  };
  const privileged = { decision: 'allow', mode: 'enforce', level: 'privileged', version: 'latest' } as const;
  for (const operation of ['create', 'update']) {
    record({ operation, resource: 'pod', subresource: '', evaluation: privileged }, 0);
    for (const resource of ['pod', 'controller'] as const) record({ operation, resource, subresource: '', evaluation: undefined }, 0);
  }
  return (one) => record(one);
}

/** Counts the match conditions that kept webhooks and policies from being asked. */
function createConditions(registry: MetricRegistry): AdmissionMetrics['recordConditions'] {
  const name = 'apiserver_admission_match_condition';
  const errors = registry.counter({
    name: `${name}_evaluation_errors_total`, stability: 'ALPHA', help: 'Admission match condition evaluation errors count, identified by name of resource.',
  });
  const exclusions = registry.counter({
    name: `${name}_exclusions_total`, stability: 'ALPHA', help: 'Admission match condition evaluation exclusions count, identified by name of resource.',
  });
  const durations = registry.histogram({
    name: `${name}_evaluation_seconds`, stability: 'ALPHA', help: 'Admission match condition evaluation time in seconds, identified by name.',
    bounds: conditionBuckets,
  });
  return ({ kind, name: owner, type, operation, durationMs, errors: failed, isExcluded }) => {
    const labels = { kind, name: owner, operation, type };
    durations.observe(formatLabels(labels), durationMs / 1000);
    if (failed > 0) errors.add(formatLabels(labels), failed);
    // Upstream names the phase here, and the sort of webhook elsewhere.
    if (isExcluded && kind === 'webhook') exclusions.add(formatLabels({ ...labels, type: type === 'admit' ? 'admit' : 'validate' }));
  };
}

/** Counts the calls of webhooks and what came of them. */
function createWebhooks(registry: MetricRegistry, durations: Histogram): Pick<AdmissionMetrics, 'recordWebhook' | 'recordRejection' | 'recordFailOpen'> {
  const count = (what: string, help: string): Counter => registry.counter({ name: `apiserver_admission_webhook_${what}`, stability: 'ALPHA', help });
  const requests = count('request_total', 'Admission webhook request total, identified by name and broken out for each admission type (validating or admit) '
    + 'and operation. Additional labels specify whether the request was rejected or not and an HTTP status code. Codes greater than 600 are truncated to '
    + '600, to keep the metrics cardinality bounded.');
  const rejections = count('rejection_count', 'Admission webhook rejection count, identified by name and broken out for each admission type (validating or '
    + 'admit) and operation. Additional labels specify an error type (calling_webhook_error or apiserver_internal_error if an error occurred; no_error '
    + 'otherwise) and optionally a non-zero rejection code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the '
    + 'code is greater or equal to 400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.');
  const openings = count('fail_open_count', 'Admission webhook fail open count, identified by name and broken out for each admission type (validating or admit).');
  const labelCall = createCallLabels();
  return {
    recordWebhook(call) {
      const { duration, request } = labelCall(call);
      durations.observe(duration, call.durationMs / 1000);
      requests.add(request);
    },
    recordRejection: ({ name, type, operation, cause, code }) =>
      rejections.add(formatLabels({ error_type: cause, name, operation, rejection_code: codeOf(code), type })),
    recordFailOpen: ({ name, type }) => openings.add(formatLabels({ name, type })),
  };
}

/** Starts at zero; `notes` for those of a worker, which the server counts. */
export function createAdmissionMetrics(options: { readonly notes?: boolean } = {}): CountedAdmission {
  const registry = new MetricRegistry(options);
  const measure = (what: string, start: string, bounds = pluginBuckets): Histogram => registry.histogram({
    name: `apiserver_admission_${what}_admission_duration_seconds`, stability: 'STABLE', bounds, help: `${start} type (validate or admit).`,
  });
  const split = 'latency histogram in seconds, identified by name and broken out for each operation and API resource and';
  const steps = measure('step', 'Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step');
  const plugins = measure('controller', `Admission controller ${split}`);
  const webhooks = measure('webhook', `Admission webhook ${split}`, webhookBuckets);
  const [compilation, evaluation] = (['compilation', 'evaluation'] as const).map((what) => registry.histogram({
    name: `apiserver_cel_${what}_duration_seconds`, stability: 'BETA', help: `CEL ${what} time in seconds.`, bounds: expressionBuckets,
  }));
  const [countValidating, countMutating] = [createChecks(registry, 'validating'), createChecks(registry, 'mutating')];
  return {
    registry,
    countStep: (step) => countStep(step.name === undefined ? steps : plugins, step),
    ...createWebhooks(registry, webhooks),
    recordConditions: createConditions(registry),
    recordPodSecurity: createPodSecurity(registry),
    recordPolicyCheck: (check) => (check.action === undefined ? countMutating : countValidating)(check),
    recordExpressions: (what, durationMs) => (what === 'compilation' ? compilation : evaluation)?.observe('', durationMs / 1000),
    render: () => registry.render(),
  };
}
