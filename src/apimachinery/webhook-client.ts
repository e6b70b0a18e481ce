// Where a webhook is reached, as registrations and conversions of definitions say it: a URL, or a service. Mirrors the checks that the reference has for both.
import { invalidValue, required } from './field-error.ts';
import { checkDnsSubdomain } from './names.ts';
import type { FieldError } from './status.ts';
import { parseUrl } from './url/index.ts';

/** A service that answers, and where in it. */
export interface WebhookService {
  readonly name?: string;
  readonly namespace?: string;
  readonly path?: string | null;
  readonly port?: number;
}

const FORM = '; desired format: https://host[/path]';

/** Problems of the URL of a webhook. */
export function checkWebhookUrl(field: string, text: string): FieldError[] {
  const url = parseUrl(text);
  if (typeof url === 'string') return [required(field, `url must be a valid URL: ${url}${FORM}`)];
  const { scheme, user, host, query, fragment } = url;
  return [
    ...(scheme === 'https' ? [] : [invalidValue(field, scheme, `'https' is the only allowed URL scheme${FORM}`)]),
    ...(host === '' ? [invalidValue(field, host, `host must be specified${FORM}`)] : []),
    ...(user === undefined ? [] : [invalidValue(field, user, 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [invalidValue(field, fragment, 'fragments are not permitted in the URL')]),
    ...(query === '' ? [] : [invalidValue(field, query, 'query parameters are not permitted in the URL')]),
  ];
}

function checkPath(field: string, path: string): FieldError[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalidValue(field, path, 'segment[0] may not be empty')];
  const errors = path.startsWith('/') ? [] : [invalidValue(field, path, "must start with a '/'")];
  // The reference cuts off a byte, which leaves a part of other characters.
  const steps = path.charCodeAt(0) > 0x7f ? path : path.slice(1);
  steps.replace(/\/$/, '').split('/').forEach((step, i) => {
    if (step === '') errors.push(invalidValue(field, path, `segment[${i}] may not be empty`));
    else errors.push(...checkDnsSubdomain(step).map((problem) => invalidValue(field, path, `segment[${i}]: ${problem}`)));
  });
  return errors;
}

/** Problems of the service of a webhook; its port has its default. */
export function checkWebhookService(field: string, { name, namespace, path, port = 0 }: WebhookService): FieldError[] {
  const errors: FieldError[] = [];
  // The reference mixes the two up: what it says of the name is about the namespace, and the other way round.
  if (!namespace) errors.push(required(`${field}.name`));
  if (!name) errors.push(required(`${field}.namespace`));
  if (port < 1 || port > 65_535) errors.push(invalidValue(`${field}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
  return path === undefined || path === null ? errors : [...errors, ...checkPath(`${field}.path`, path)];
}
