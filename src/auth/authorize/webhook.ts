// The Webhook mode: another server is asked with a SubjectAccessReview, and its answers are kept for a while. The call itself is handed in.
// A webhook that cannot be asked has no opinion, or denies, as its policy says.
// Mirrors the reference's times: allowed for five minutes, refused for thirty
// seconds.
import { BoundedCache } from '../../base/index.ts';
import type { Clock } from '../../base/index.ts';
import type { Attributes, Authorize, Decision } from './attributes.ts';

/** Sends a SubjectAccessReview and answers what came back, or rejects with an Error whose message callers see. */
type SendReview = (review: Readonly<Record<string, unknown>>) => Promise<unknown>;

interface WebhookOptions {
  readonly send: SendReview;
  readonly clock: Clock;
  /** Version of the reviews; v1 by default. */
  readonly version?: 'v1' | 'v1beta1';
  readonly allowedMs?: number;
  readonly refusedMs?: number;
  /** The decision when the webhook cannot be asked; NoOpinion by default. */
  readonly failurePolicy?: 'NoOpinion' | 'Deny';
  /** The requests that it is asked about; all by default. An Error is a failure of the webhook. */
  readonly matches?: (attributes: Attributes) => boolean | Error;
  /** Receives the errors of failed calls. */
  readonly onError?: (error: unknown) => void;
}

/** Answers kept at most. */
const KEPT_ANSWERS = 8192;
/** Longest question that is kept, so that callers cannot fill memory with names. */
const MAX_KEY_LENGTH = 10_000;

interface Kept {
  readonly decision: Decision;
  readonly untilMs: number;
}

/** The `spec` of the question. */
export function describeRequest(attributes: Attributes): Record<string, unknown> {
  const { user, isResource, verb, namespace, group, version, resource, subresource, name, path, fieldSelector, labelSelector } = attributes;
  const present = (fields: Record<string, string>) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
  const selectors = { ...describeSelector('fieldSelector', fieldSelector), ...describeSelector('labelSelector', labelSelector) };
  return {
    ...(isResource
      ? { resourceAttributes: { ...present({ namespace, verb, group, version, resource, subresource, name }), ...selectors } }
      : { nonResourceAttributes: present({ path, verb }) }),
    user: user.name, ...(user.groups.length > 0 && { groups: [...user.groups] }), ...(user.extra !== undefined && { extra: user.extra }),
    ...(user.uid !== undefined && { uid: user.uid }),
  };
}

/** Requirements that could be read; a selector without any asks the wider question. */
function describeSelector(field: string, selector: Attributes['fieldSelector']): Record<string, unknown> {
  const requirements = selector?.().requirements ?? [];
  return requirements.length === 0 ? {} : { [field]: { requirements } };
}

/** The whole question; v1beta1 calls groups `group`. */
function createReview({ groups, ...spec }: Record<string, unknown>, version: 'v1' | 'v1beta1'): Record<string, unknown> {
  const named = groups === undefined ? {} : { [version === 'v1' ? 'groups' : 'group']: groups };
  return { kind: 'SubjectAccessReview', apiVersion: `authorization.k8s.io/${version}`, metadata: {}, spec: { ...spec, ...named }, status: { allowed: false } };
}

function readAnswer(answer: unknown): Decision {
  const status = (answer as { status?: { allowed?: unknown; denied?: unknown; reason?: unknown } } | null)?.status;
  if (typeof status?.allowed !== 'boolean') throw new Error('the webhook did not answer a SubjectAccessReview');
  const reason = typeof status.reason === 'string' ? status.reason : '';
  if (status.allowed && status.denied === true) throw new Error('the webhook both allowed and denied');
  return { type: status.allowed ? 'allow' : status.denied === true ? 'deny' : 'none', reason };
}

/** The authorizer. */
export function createWebhookAuthorizer(options: WebhookOptions): Authorize {
  const { send, clock, version = 'v1', allowedMs = 300_000, refusedMs = 30_000, onError } = options;
  const failed: Decision = { type: options.failurePolicy === 'Deny' ? 'deny' : 'none', reason: '' };
  const kept = new BoundedCache<string, Kept>({ limit: KEPT_ANSWERS });
  const keep = (key: string, decision: Decision): void => {
    if (key.length > MAX_KEY_LENGTH) return;
    kept.set(key, { decision, untilMs: clock.monotonicMs() + (decision.type === 'allow' ? allowedMs : refusedMs) });
  };
  const ask = async (spec: Record<string, unknown>, key: string): Promise<Decision> => {
    try {
      const decision = readAnswer(await send(createReview(spec, version)));
      keep(key, decision);
      return decision;
    } catch (error) {
      onError?.(error);
      return { ...failed, error: (error as Error).message };
    }
  };
  return (attributes) => {
    const matched = options.matches?.(attributes) ?? true;
    if (matched === false) return { type: 'none', reason: '' };
    if (matched !== true) {
      onError?.(matched);
      return { ...failed, error: matched.message };
    }
    const spec = describeRequest(attributes);
    const key = JSON.stringify(spec);
    const known = kept.get(key);
    return known !== undefined && known.untilMs > clock.monotonicMs() ? known.decision : ask(spec, key);
  };
}
