// ImagePolicyWebhook: a service outside decides which images run. Its answers are kept for a while; where it does not answer, the configuration says
// what happens. Mirrors upstream's plugin; the service is asked by a function that the server hands in.
import { BoundedCache, type Clock, delay } from '../../../base/index.ts';
import type { AdmissionAttributes, RequestSignal } from '../../../registry/index.ts';
import { annotate } from '../../audit-annotations.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import { refuse } from '../../refusal.ts';
import { podSpecOf } from './pod.ts';

/** How answers are kept and failures met. */
export interface ImagePolicySettings {
  /** How long permissions and refusals are kept; 0: not at all. */
  readonly allowedMs: number;
  readonly refusedMs: number;
  /** The wait before the second try, which grows from try to try. */
  readonly backoffMs: number;
  /** Whether pods pass while the service does not answer. */
  readonly defaultAllow: boolean;
}

/** What the plugin is made of. */
export interface ImagePolicyOptions extends ImagePolicySettings {
  /** Sends an ImageReview and answers what came back; rejects with an Error whose `code` is that of the answer. */
  readonly ask: (review: object, signal: RequestSignal | undefined) => Promise<unknown>;
  readonly clock: Clock;
}

interface ReviewStatus {
  readonly allowed?: boolean;
  readonly reason?: string;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

interface KeptStatus {
  readonly status: ReviewStatus;
  readonly endsMs: number;
}

const API_VERSION = 'imagepolicy.k8s.io/v1alpha1';
const KIND = 'ImageReview';
const AUDIT_PREFIX = 'imagepolicywebhook.image-policy.k8s.io/';
const POD_ANNOTATIONS = '.image-policy.k8s.io/';
/** What answers are kept for may add up to this much text; an entry counts as no less than a line. */
const MAX_KEPT_CHARACTERS = 4 * 1024 * 1024;
const LEAST_CHARACTERS = 256;
const MAX_TRIES = 5;
const BACKOFF_FACTOR = 1.5;
const transientCodes: readonly unknown[] = [429, 500, 504];

const isTransient = (error: unknown): boolean => transientCodes.includes((error as { readonly code?: number }).code)
  || (error as Error).message.endsWith('connection reset by peer');

/** What the service is asked about the pod of a request. */
function describeImages({ object, subresource, namespace }: AdmissionAttributes): object {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = podSpecOf(object);
  const shown = subresource === '' ? [...containers, ...initContainers] : ephemeralContainers;
  const annotations = Object.entries(object?.metadata.annotations ?? {}).filter(([key]) => key.includes(POD_ANNOTATIONS));
  return {
    ...(shown.length > 0 && { containers: shown.map(({ image }) => ({ ...(image && { image }) })) }),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    ...(namespace !== '' && { namespace }),
  };
}

/** The status of an answer; throws where the answer is no ImageReview. */
function readStatus(answer: unknown): ReviewStatus {
  const { apiVersion = API_VERSION, kind = KIND, status } = (answer ?? {}) as { apiVersion?: string; kind?: string; status?: ReviewStatus };
  if (apiVersion === API_VERSION && kind === KIND) return status ?? {};
  throw new Error(`converting (${apiVersion.split('/').at(-1)}.${kind}) to (v1alpha1.${KIND}): unknown conversion`);
}

/** Asks until an answer comes or trying again is pointless. */
async function askPatiently({ ask, clock, backoffMs }: ImagePolicyOptions, review: object, signal: RequestSignal | undefined): Promise<ReviewStatus> {
  for (let [tries, waitMs] = [1, backoffMs]; ; tries++, waitMs *= BACKOFF_FACTOR) {
    try {
      return readStatus(await ask(review, signal));
    } catch (error) {
      if (tries === MAX_TRIES || !isTransient(error) || signal?.signal?.aborted === true) throw error;
      await delay(clock, waitMs);
    }
  }
}

/** Makes the plugin. */
export function createImagePolicy(options: ImagePolicyOptions): AdmissionPlugin {
  const { allowedMs, refusedMs, defaultAllow, clock } = options;
  const kept = new BoundedCache<string, KeptStatus>({ limit: MAX_KEPT_CHARACTERS, sizeOf: (_, { length }) => length + LEAST_CHARACTERS });
  const find = async (spec: object, signal: RequestSignal | undefined): Promise<ReviewStatus> => {
    const key = JSON.stringify(spec);
    const known = kept.get(key);
    if (known !== undefined && clock.now() < known.endsMs) return known.status;
    const status = await askPatiently(options, { kind: KIND, apiVersion: API_VERSION, metadata: {}, spec, status: { allowed: false } }, signal);
    const keepMs = status.allowed === true ? allowedMs : refusedMs;
    if (keepMs > 0) kept.set(key, { status, endsMs: clock.now() + keepMs });
    return status;
  };
  return {
    name: 'ImagePolicyWebhook',
    handles: ({ operation, resource, subresource }) => (operation === 'CREATE' || operation === 'UPDATE')
      && resource.group === '' && resource.plural === 'pods' && (subresource === '' || subresource === 'ephemeralcontainers'),
    async validate(attributes) {
      const { context } = attributes;
      let status: ReviewStatus;
      try {
        status = await find(describeImages(attributes), context.signal);
      } catch (error) {
        if (!defaultAllow) throw refuse(attributes, (error as Error).message);
        return annotate(context, `${AUDIT_PREFIX}failed-open`, { value: 'true' });
      }
      for (const [key, value] of Object.entries(status.auditAnnotations ?? {})) annotate(context, `${AUDIT_PREFIX}${key}`, { value });
      if (status.allowed === true) return;
      const why = status.reason ? `image policy webhook backend denied one or more images: ${status.reason}` : 'one or more images rejected by webhook backend';
      throw refuse(attributes, why);
    },
  };
}
