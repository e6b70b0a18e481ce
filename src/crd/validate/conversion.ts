// Validation of spec.conversion, with the paths of upstream's internal form.
import {
  type FieldError, type WebhookService, checkDns1035Label, checkWebhookService, checkWebhookUrl, forbiddenField, invalidValue, notSupported, required,
} from '../../apimachinery/index.ts';

interface Conversion {
  readonly strategy?: string;
  readonly webhook?: {
    readonly conversionReviewVersions?: readonly string[] | null;
    readonly clientConfig?: { readonly url?: string; readonly service?: WebhookService };
  };
}

const AT = 'spec.conversion';
const CONFIG_AT = `${AT}.webhookClientConfig`;
const VERSIONS_AT = `${AT}.conversionReviewVersions`;
const reviewVersions = ['v1', 'v1beta1'];

/** Problems of spec.conversion. */
export function validateConversion(conversion: Conversion | undefined): FieldError[] {
  if (conversion === undefined) return [];
  const { strategy, webhook } = conversion;
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy === 'Webhook') return [...validateClient(webhook?.clientConfig), ...validateReviewVersions(versions)];
  const errors: FieldError[] = [];
  if (!strategy) errors.push(required(`${AT}.strategy`));
  else if (strategy !== 'None') errors.push(notSupported(`${AT}.strategy`, strategy, ['None', 'Webhook']));
  const why = 'should not be set when strategy is not set to Webhook';
  if (webhook?.clientConfig !== undefined) errors.push(forbiddenField(CONFIG_AT, why));
  if (versions.length > 0) errors.push(forbiddenField(VERSIONS_AT, why));
  return errors;
}

function validateClient(config: NonNullable<Conversion['webhook']>['clientConfig']): FieldError[] {
  if (config === undefined) return [required(CONFIG_AT, 'required when strategy is set to Webhook')];
  const { url, service } = config;
  if ((url === undefined) === (service === undefined)) return [required(CONFIG_AT, 'exactly one of url or service is required')];
  if (url !== undefined) return checkWebhookUrl(`${CONFIG_AT}.url`, url);
  return checkWebhookService(`${CONFIG_AT}.service`, { port: 443, ...service });
}

function validateReviewVersions(versions: readonly string[]): FieldError[] {
  if (versions.length === 0) return [required(VERSIONS_AT)];
  const seen = new Set<string>();
  const errors = versions.flatMap((version, i) => {
    const problems = checkDns1035Label(version);
    if (seen.has(version)) return [invalidValue(`${VERSIONS_AT}[${i}]`, version, 'duplicate version')];
    seen.add(version);
    return problems.map((problem) => invalidValue(`${VERSIONS_AT}[${i}]`, version, problem));
  });
  if (versions.some((version) => reviewVersions.includes(version))) return errors;
  return [...errors, invalidValue(VERSIONS_AT, versions, `must include at least one of ${reviewVersions.join(', ')}`)];
}
