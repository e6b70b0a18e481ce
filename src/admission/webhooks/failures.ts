// What clients are answered when a webhook refuses or cannot be asked, in the words of upstream's webhook/errors and util/webhook.
import { type Status, StatusError, badRequest } from '../../apimachinery/index.ts';

/** A call that failed: how, and the code that metrics count it under. Whether the request fails with it is the failure policy's decision. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: number;

  constructor(webhook: string, reason: string, code: number) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`);
    this.code = code;
  }
}

/** A webhook that cannot be called at all with the configuration that it has. */
export class UnusableError extends CallError {}

/** The refusal of a webhook, which no failure policy passes over. */
export class RefusalError extends StatusError {}

const LEAST_REFUSAL_CODE = 400;

/** The answer to a request that a webhook refuses; `result` is the Status of its answer. */
export function refuseBy(webhook: string, result: Partial<Status> = {}): RefusalError {
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const explanation = result.message || result.reason;
  const { metadata = {}, details, reason, code = 0 } = result;
  return new RefusalError({
    kind: 'Status', apiVersion: 'v1', metadata,
    status: result.status === undefined || (result.status as string) === '' || result.status === 'Success' ? 'Failure' : result.status,
    message: explanation ? `${denied}: ${explanation}` : `${denied} without explanation`,
    ...(reason && { reason }), ...(details !== undefined && { details }), code: Math.max(code, LEAST_REFUSAL_CODE),
  } as Status);
}

/** 400 of a dry run that a webhook with side effects would see. */
export const noDryRun = (webhook: string): StatusError => badRequest(`admission webhook ${JSON.stringify(webhook)} does not support dry run`);
