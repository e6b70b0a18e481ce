// What admission reports about itself; the server counts it under upstream's names (apiserver_admission_…). Durations are in milliseconds.

/** `admit`: mutating; `validating`: as upstream labels webhooks of the other sort. */
export type WebhookType = 'admit' | 'validating';

/** One call of a webhook that was made, or failed to be. */
export interface WebhookCall {
  readonly name: string;
  readonly type: WebhookType;
  readonly operation: string;
  readonly durationMs: number;
  /** HTTP code that the call came to; 0 where the failure is this server's. */
  readonly code: number;
  /** The request fails because of it. */
  readonly rejected: boolean;
}

/** Why a webhook ends a request. */
export type RejectionCause = 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error';

/** A webhook that ends a request. */
export interface WebhookRejection extends Pick<WebhookCall, 'name' | 'type' | 'operation' | 'code'> {
  readonly cause: RejectionCause;
}

/** A plugin in one of its two parts, or all of them (`name` undefined). */
export interface AdmissionStep {
  readonly name: string | undefined;
  readonly type: 'admit' | 'validate';
}

/** Counts one run of a step, which may refuse the request. */
export type RecordStep = (operation: string, rejected: boolean, durationMs: number) => void;

/** Match conditions that kept a webhook or a policy from being asked. */
export interface ConditionsRecord {
  readonly kind: 'webhook' | 'policy';
  readonly name: string;
  readonly type: WebhookType | 'validate';
  readonly operation: string;
  readonly durationMs: number;
  /** Number of conditions that could not be evaluated. */
  readonly errors: number;
  /** Whether the request continues without it. */
  readonly isExcluded: boolean;
}

/** A decision of a policy that counts: a denial, a failure, a mutation. */
export interface PolicyCheck {
  readonly policy: string;
  readonly binding: string;
  /** What the expression failed with; '' where it did not fail. */
  readonly failure: string;
  /** The enforcement; undefined for mutations. */
  readonly action: 'allow' | 'deny' | 'audit' | 'warn' | undefined;
  readonly durationMs: number;
}

/** What Pod Security looked at. */
interface PodSecuritySubject {
  readonly operation: string;
  readonly resource: 'pod' | 'namespace' | 'controller';
  readonly subresource: string;
}

/** An outcome of Pod Security: a decision by a level of a mode, or an exemption. */
export interface PodSecurityRecord extends PodSecuritySubject {
  /** Undefined for an exemption. */
  readonly evaluation: {
    readonly decision: 'allow' | 'deny';
    readonly mode: 'enforce' | 'audit' | 'warn';
    readonly level: string;
    /** `v1.x`, `latest`, or `future` for versions that this server does not know. */
    readonly version: string;
  } | undefined;
}

/** Receives what admission reports. */
export interface AdmissionMetrics {
  /** Answers the function that counts the runs of a step; asked for once per step, since every write has some twenty of them. */
  countStep(step: AdmissionStep): RecordStep;
  recordWebhook(call: WebhookCall): void;
  recordRejection(rejection: WebhookRejection): void;
  recordConditions(conditions: ConditionsRecord): void;
  recordPolicyCheck(check: PolicyCheck): void;
  /** How long the expressions of a policy took: all to be compiled, or a group of them to be evaluated. */
  recordExpressions?(what: 'compilation' | 'evaluation', durationMs: number): void;
  recordPodSecurity(record: PodSecurityRecord): void;
  /** A webhook failed and its failure policy is Ignore. */
  recordFailOpen(webhook: Pick<WebhookCall, 'name' | 'type'>): void;
}
