// One call of one webhook: dry-run rule, review, timeout, answer. Throws RefusalError, CallError (which the failure policy may pass over) or another
// StatusError (which it may not). Calls are made by the function that the server hands in.
import type { Schema, SchemaSet } from '../../apimachinery/index.ts';
import { type Clock, type Random, invariant } from '../../base/index.ts';
import type { AdmissionAttributes, RequestSignal } from '../../registry/index.ts';
import { annotate } from '../audit-annotations.ts';
import type { FormedObjects } from '../match/resource-forms.ts';
import { CallError, UnusableError, noDryRun, refuseBy } from './failures.ts';
import { type ReviewAnswer, ReviewError, buildReview, decodeReview, verifyReview } from './review.ts';
import type { Webhook, WebhookClientConfig } from './webhook.ts';

/** How long a call may take, and what else ends it. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** The rest of the request's time, stated to the webhook where it is less. The signal ends the call then, and the request has its answer. */
  readonly leftMs: number | undefined;
}

/** What sending fails with besides its message, which is the reference's: the code of the answer, and whether nothing could be sent at all. */
interface SendFailure {
  readonly code?: number;
  readonly isUnusable?: boolean;
}

/** Sends a body and answers the parsed answer; rejects with an Error that has the fields of SendFailure. */
export type SendReview = (client: WebhookClientConfig, body: unknown, limits: CallLimits) => Promise<unknown>;

/** What calls need. */
export interface CallDependencies {
  readonly send: SendReview;
  readonly schemas: SchemaSet;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
}

const UNAVAILABLE = 503;
const BAD_REQUEST = 400;
const quietSideEffects: readonly (string | undefined)[] = ['None', 'NoneOnDryRun'];

function findReviewSchema(schemas: SchemaSet): Schema {
  const schema = schemas.forKind({ group: 'admission.k8s.io', version: 'v1', kind: 'AdmissionReview' });
  invariant(schema !== undefined, 'the schema of AdmissionReview is known');
  return schema;
}

function limitCall(webhook: Webhook, clock: Clock, request: RequestSignal | undefined): CallLimits {
  const leftMs = request?.deadlineMs === undefined ? undefined : Math.max(1, request.deadlineMs - clock.monotonicMs());
  return { timeoutMs: webhook.timeoutSeconds * 1000, signal: request?.signal, leftMs };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Calls a webhook; the answer allows the request. Its warnings and audit annotations are added to the request's whatever it says. */
export async function callWebhook(webhook: Webhook, { attributes, objects, mutating }: {
  readonly attributes: AdmissionAttributes; readonly objects: FormedObjects; readonly mutating: boolean;
}, { send, schemas, clock, random }: CallDependencies): Promise<ReviewAnswer> {
  const { name, reviewVersion: version } = webhook;
  const { context } = attributes;
  if (context.dryRun && !quietSideEffects.includes(webhook.sideEffects)) throw noDryRun(name);
  if (version === undefined) {
    throw new CallError(name, 'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)', BAD_REQUEST);
  }
  const uid = random.uuid();
  const beganMs = clock.monotonicMs();
  const sent = await send(webhook.clientConfig, buildReview(attributes, objects, { version, uid }), limitCall(webhook, clock, context.signal))
    .catch((error: unknown) => {
      const { code = UNAVAILABLE, isUnusable = false } = error as SendFailure;
      if (isUnusable) throw new UnusableError(name, messageOf(error), code);
      throw new CallError(name, `failed to call webhook: ${messageOf(error)}`, code);
    })
    .finally(() => context.noteWebhook?.({ isMutating: mutating, tookMs: clock.monotonicMs() - beganMs }));
  const answer = readAnswer(name, sent, { version, uid, mutating, schema: findReviewSchema(schemas) });
  for (const [key, value] of Object.entries(answer.auditAnnotations)) annotate(context, `${name}/${key}`, { value });
  context.warnings.push(...answer.warnings);
  if (!answer.allowed) throw refuseBy(name, answer.result);
  return answer;
}

function readAnswer(name: string, sent: unknown, { schema, ...wanted }: Parameters<typeof verifyReview>[1] & { readonly schema: Schema }): ReviewAnswer {
  let step = 'failed to call webhook';
  try {
    const review = decodeReview(sent, wanted.version, schema);
    step = 'received invalid webhook response';
    return verifyReview(review, wanted);
  } catch (error) {
    throw error instanceof ReviewError ? new CallError(name, `${step}: ${error.message}`, UNAVAILABLE) : error;
  }
}
