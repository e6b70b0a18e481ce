// The configuration of ImagePolicyWebhook: `imagePolicy` with the kubeconfig of the service, and how long its answers are kept. As in the reference 0
// stands for the default of a time and -1 for none.
import type { ImagePolicySettings } from '../../admission/index.ts';
import { readWebhookKubeconfig, type WebhookTarget } from '../webhooks/token-webhook.ts';
import { StartError } from '../options/options.ts';
import { ConfigReader, type Fields } from './config-file.ts';

/** Settings of the plugin, and the service that it asks. */
export interface ImagePolicyPlan {
  readonly settings: ImagePolicySettings;
  readonly target: WebhookTarget;
}

const MINUTE_MS = 60_000;

interface Time {
  readonly field: string;
  readonly unitMs: number;
  readonly mostMs: number;
  readonly defaultMs: number;
}

const times = {
  allowedMs: { field: 'allowTTL', unitMs: 1000, mostMs: 30 * MINUTE_MS, defaultMs: 5 * MINUTE_MS },
  refusedMs: { field: 'denyTTL', unitMs: 1000, mostMs: 30 * MINUTE_MS, defaultMs: 30_000 },
  backoffMs: { field: 'retryBackoff', unitMs: 1, mostMs: 5 * MINUTE_MS, defaultMs: 500 },
} as const satisfies Record<string, Time>;

function readTime(reader: ConfigReader, fields: Fields, { field, unitMs, mostMs, defaultMs }: Time): number {
  const value = fields[field] ?? 0;
  if (value === 0) return defaultMs;
  if (value === -1) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value * unitMs <= mostMs) return value * unitMs;
  reader.invalid(`imagePolicy.${field}`, value, `must be -1, 0, or from 1 to ${mostMs / unitMs}`);
  return 0;
}

/** Reads the configuration, the kubeconfig included. Throws StartError. */
export async function readImagePolicy(flag: string, configuration: Fields): Promise<ImagePolicyPlan> {
  const reader = new ConfigReader(`${flag}: ImagePolicyWebhook`);
  // The file has no kind, and is decoded leniently.
  const fields = (configuration['imagePolicy'] ?? {}) as Fields;
  const path = reader.requiredText(fields['kubeConfigFile'], 'imagePolicy.kubeConfigFile');
  const settings = {
    allowedMs: readTime(reader, fields, times.allowedMs), refusedMs: readTime(reader, fields, times.refusedMs),
    backoffMs: readTime(reader, fields, times.backoffMs), defaultAllow: reader.boolean(fields['defaultAllow'], 'imagePolicy.defaultAllow', false),
  };
  reader.finish();
  const target = await readWebhookKubeconfig(flag, path);
  if (!target.url.startsWith('https://')) throw new StartError(`${flag}: ${path} names no cluster with an https server`);
  return { settings, target };
}
