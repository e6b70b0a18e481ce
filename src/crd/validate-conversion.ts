// Validation of spec.conversion, with the paths of upstream's internal form.
import { type FieldError, checkDns1035Label, forbiddenField, invalidValue, notSupported, required } from '../apimachinery/index.ts';

interface Service {
  readonly name?: string;
  readonly namespace?: string;
  readonly path?: string;
  readonly port?: number;
}
interface Conversion {
  readonly strategy?: string;
  readonly webhook?: {
    readonly conversionReviewVersions?: readonly string[] | null;
    readonly clientConfig?: { readonly url?: string; readonly service?: Service };
  };
}

const at = 'spec.conversion';
const configAt = `${at}.webhookClientConfig`;
const versionsAt = `${at}.conversionReviewVersions`;
const reviewVersions = ['v1', 'v1beta1'];
const desired = 'desired format: https://host[/path]';

/** Problems of spec.conversion. */
export function validateConversion(conversion: Conversion | undefined): FieldError[] {
  if (conversion === undefined) return [];
  const { strategy, webhook } = conversion;
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy === 'Webhook') return [...validateClient(webhook?.clientConfig), ...validateReviewVersions(versions)];
  const errors: FieldError[] = [];
  if (!strategy) errors.push(required(`${at}.strategy`));
  else if (strategy !== 'None') errors.push(notSupported(`${at}.strategy`, strategy, ['None', 'Webhook']));
  const why = 'should not be set when strategy is not set to Webhook';
  if (webhook?.clientConfig !== undefined) errors.push(forbiddenField(configAt, why));
  if (versions.length > 0) errors.push(forbiddenField(versionsAt, why));
  return errors;
}

function validateClient(config: NonNullable<Conversion['webhook']>['clientConfig']): FieldError[] {
  if (config === undefined) return [required(configAt, 'required when strategy is set to Webhook')];
  const { url, service } = config;
  if ((url === undefined) === (service === undefined)) return [required(configAt, 'exactly one of url or service is required')];
  return url === undefined ? validateService(service as Service) : validateUrl(url);
}

function validateUrl(text: string): FieldError[] {
  const field = `${configAt}.url`;
  const match = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/.exec(text);
  if (match === null) return [required(field, `url must be a valid URL: ${desired}`)];
  const [, scheme = '', user, host = '', , query, fragment] = match;
  const errors: FieldError[] = [];
  if (scheme !== 'https') errors.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme; ${desired}`));
  if (host === '') errors.push(invalidValue(field, host, `host must be specified; ${desired}`));
  if (user !== undefined) errors.push(invalidValue(field, user, `user information is not permitted in the URL`));
  if (fragment !== undefined && fragment !== '#') errors.push(invalidValue(field, fragment.slice(1), 'fragments are not permitted in the URL'));
  if (query !== undefined && query !== '?') errors.push(invalidValue(field, query.slice(1), 'query parameters are not permitted in the URL'));
  return errors;
}

function validateService({ name, namespace, path, port = 443 }: Service): FieldError[] {
  const field = `${configAt}.service`;
  const errors: FieldError[] = [];
  if (!name) errors.push(required(`${field}.name`, 'service name is required'));
  if (!namespace) errors.push(required(`${field}.namespace`, 'service namespace is required'));
  if (port < 1 || port > 65535) errors.push(invalidValue(`${field}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
  if (path !== undefined && !path.startsWith('/')) errors.push(invalidValue(`${field}.path`, path, "must start with a '/'"));
  return errors;
}

function validateReviewVersions(versions: readonly string[]): FieldError[] {
  if (versions.length === 0) return [required(versionsAt)];
  const seen = new Set<string>();
  const errors = versions.flatMap((version, i) => {
    const problems = checkDns1035Label(version);
    if (seen.has(version)) return [invalidValue(`${versionsAt}[${i}]`, version, 'duplicate version')];
    seen.add(version);
    return problems.map((problem) => invalidValue(`${versionsAt}[${i}]`, version, problem));
  });
  if (versions.some((version) => reviewVersions.includes(version))) return errors;
  return [...errors, invalidValue(versionsAt, versions, `must include at least one of ${reviewVersions.join(', ')}`)];
}
