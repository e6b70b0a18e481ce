// The service that the Webhook mode of authorization asks, found by the kubeconfig of its flag. Loaded only where it is asked for.
import type { SendReview } from '../auth/index.ts';
import type { ServerOptions } from './options.ts';

/** The call that asks it; undefined when no mode needs it. Throws StartError. */
export async function createReviewSender(options: ServerOptions): Promise<SendReview | undefined> {
  if (!options.authorizationMode.includes('Webhook')) return undefined;
  const { readWebhookKubeconfig } = await import('./token-webhook.ts');
  const { fetchJson } = await import('./fetch-json.ts');
  const { url, ...target } = await readWebhookKubeconfig('--authorization-webhook-config-file', options.authorizationWebhookConfigFile);
  return (review) => fetchJson(url, { ...target, body: review });
}
