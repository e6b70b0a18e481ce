// Tokens that another service verifies: each unknown token is sent in a TokenReview; answers are kept for two minutes, as kube-apiserver does with
// --authentication-token-webhook-config-file. A token is refused when the service cannot be asked.
import type { Clock, Random } from '../../base/index.ts';
import type { AuthenticateToken, TokenAnswer } from './credentials.ts';
import { TokenCache } from './token-cache.ts';

interface WebhookTokenOptions {
  readonly apiVersion: 'authentication.k8s.io/v1' | 'authentication.k8s.io/v1beta1';
  /** Sends a review and answers the one that comes back. */
  readonly post: (review: unknown) => Promise<unknown>;
  readonly cacheMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

interface Reviewed {
  readonly status?: {
    readonly authenticated?: boolean; readonly error?: string; readonly audiences?: readonly string[];
    readonly user?: {
      readonly username?: string; readonly uid?: string; readonly groups?: readonly string[]; readonly extra?: Record<string, readonly string[]>;
    };
  };
}

const CACHE_LIMIT = 4096;

/** Makes the authenticator. */
export function createWebhookTokenAuthenticator(options: WebhookTokenOptions): AuthenticateToken {
  const cache = new TokenCache<Promise<TokenAnswer | undefined>>({ ...options, lifetimeMs: options.cacheMs, limit: CACHE_LIMIT });
  return (token, audiences) => {
    const name = `${token}\n${audiences.join('\n')}`;
    return cache.use(name, () => ask(token, audiences, options).catch((error: unknown) => {
      cache.forget(name);
      return { type: 'refused' as const, reason: `the token webhook failed: ${(error as Error).message}` };
    }));
  };
}

async function ask(token: string, audiences: readonly string[], { apiVersion, post }: WebhookTokenOptions): Promise<TokenAnswer | undefined> {
  const { status } = await post({ apiVersion, kind: 'TokenReview', metadata: {}, spec: { token, audiences }, status: { user: {} } }) as Reviewed;
  if (status?.authenticated !== true || !status.user?.username) return status?.error ? { type: 'refused', reason: status.error } : undefined;
  const { username, uid, groups = [], extra } = status.user;
  const user = { name: username, groups, ...(uid !== undefined && uid !== '' && { uid }), ...(extra !== undefined && { extra }) };
  const shared = status.audiences?.filter((one) => audiences.includes(one));
  if (shared !== undefined && shared.length === 0 && (status.audiences ?? []).length > 0) return undefined;
  return { type: 'user', user, ...(shared !== undefined && shared.length > 0 && { audiences: shared }) };
}
