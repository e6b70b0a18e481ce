// The authorization modes and webhooks: by the file of --authorization-config, or by the mode flags with the one webhook that they know. What reads files is
// loaded only where it is asked for.
import { type AbacPolicies, createWebhookAuthorizer, readAbacPolicies } from '../../auth/index.ts';
import type { AuthorizationPlan } from '../config-files/authorization-config.ts';
import type { ReloadObserver } from '../metrics/reload-metrics.ts';
import { describeError } from '../observability/logger.ts';
import { readTextFile } from '../data-directory.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import type { Routed } from './egress.ts';

/** Makes what counts the reloads of a file, where there is one. */
type ObserveReloads = () => ReloadObserver;

/** The plan of a server. Throws StartError. */
export async function readAuthorizationPlan(options: ServerOptions & Routed, observeReloads?: ObserveReloads): Promise<AuthorizationPlan> {
  const plan = await readModes(options, observeReloads);
  return options.authorizationPolicyFile === '' ? plan : { ...plan, abac: readPolicies(options.authorizationPolicyFile) };
}

function readPolicies(path: string): AbacPolicies {
  const flag = '--authorization-policy-file';
  const text = readTextFile(flag, path);
  try {
    return readAbacPolicies(text);
  } catch (error) {
    throw new StartError(`${flag}: error reading policy file ${path}, ${(error as Error).message}`, { cause: error });
  }
}

async function readModes(options: ServerOptions & Routed, observeReloads: ObserveReloads | undefined): Promise<AuthorizationPlan> {
  const { authorizationMode: modes, clock, logger } = options;
  if (options.authorizationConfig !== '') {
    const { readAuthorizationConfiguration } = await import('../config-files/authorization-config.ts');
    return readAuthorizationConfiguration(options, observeReloads?.());
  }
  if (!modes.includes('Webhook')) return { modes, webhooks: [] };
  const { readWebhookKubeconfig } = await import('./token-webhook.ts');
  const { JsonClient } = await import('./json-client.ts');
  const { url, ...target } = await readWebhookKubeconfig('--authorization-webhook-config-file', options.authorizationWebhookConfigFile);
  const client = new JsonClient(clock, { ...target, dial: options.egress.controlplane, measure: options.egress.measure });
  const webhook = createWebhookAuthorizer({
    send: (review) => client.ask(url, review), clock, version: options.authorizationWebhookVersion === 'v1' ? 'v1' : 'v1beta1',
    onError: (error) => logger.warn('the authorization webhook did not answer', describeError(error)),
    allowedMs: options.authorizationWebhookCacheAuthorizedTtlMs, refusedMs: options.authorizationWebhookCacheUnauthorizedTtlMs,
  });
  return { modes, webhooks: [webhook] };
}
