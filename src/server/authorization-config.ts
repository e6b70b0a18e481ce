// AuthorizationConfiguration (apiserver.config.k8s.io) and the --authorization-* flags, read into modes and the webhooks among them. Nothing in
// such a file is passed over in silence. Loaded at the start only.
import { loadPatternEngine } from '../apimachinery/index.ts';
import { type AuthorizationMode, type Authorize, type MatchRequest, authorizationModes, compileMatchConditions,
  createWebhookAuthorizer } from '../auth/index.ts';
import { parseYaml } from '../codec/index.ts';
import { readTextFile } from './data-directory.ts';
import { parseDuration } from './duration.ts';
import { fetchJson } from './fetch-json.ts';
import { describeError } from './logger.ts';
import { type ServerOptions, StartError } from './options.ts';
import { readWebhookKubeconfig } from './token-webhook.ts';

/** Who is asked, in order; each mode that is Webhook takes the next of the webhooks. */
export interface AuthorizationPlan {
  readonly modes: readonly AuthorizationMode[];
  readonly webhooks: readonly Authorize[];
}

type Fields = Readonly<Record<string, unknown>>;
const flag = '--authorization-config';
const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`);
const maxConditions = 64;

/** Reads the file. Throws StartError that names the field. */
export async function readAuthorizationConfiguration(options: ServerOptions): Promise<AuthorizationPlan> {
  const file = await parseFile(readTextFile(flag, options.authorizationConfig));
  checkFields(file, '', ['apiVersion', 'kind', 'authorizers']);
  if (file['kind'] !== 'AuthorizationConfiguration' || !versions.includes(String(file['apiVersion']))) {
    throw new StartError(`${flag}: not an AuthorizationConfiguration of ${versions.join(', ')}`);
  }
  const rows = toList(file['authorizers'], 'authorizers');
  if (rows.length === 0) throw new StartError(`${flag}: authorizers must name at least one authorizer`);
  await loadPatternEngine();
  const names = new Set<string>();
  const modes: AuthorizationMode[] = [];
  const webhooks: Authorize[] = [];
  for (const [index, row] of rows.entries()) {
    const path = `authorizers[${index}]`;
    checkFields(row, path, ['type', 'name', 'webhook']);
    const mode = pick(row['type'], `${path}.type`, authorizationModes);
    const name = toText(row['name'], `${path}.name`);
    if (names.has(name)) throw new StartError(`${flag}: ${path}.name: two authorizers have the same name`);
    if (mode !== 'Webhook' && modes.includes(mode)) throw new StartError(`${flag}: ${path}.type: ${mode} is given twice`);
    if ((mode === 'Webhook') !== (row['webhook'] !== undefined)) throw new StartError(`${flag}: ${path}.webhook must be given for Webhook, and only there`);
    names.add(name);
    modes.push(mode);
    if (mode === 'Webhook') webhooks.push(await readWebhook(toFields(row['webhook'], `${path}.webhook`), `${path}.webhook`, options));
  }
  return { modes, webhooks };
}

const webhookFields = [
  'authorizedTTL', 'cacheAuthorizedRequests', 'unauthorizedTTL', 'cacheUnauthorizedRequests', 'timeout', 'subjectAccessReviewVersion',
  'matchConditionSubjectAccessReviewVersion', 'failurePolicy', 'connectionInfo', 'matchConditions',
];

async function readWebhook(fields: Fields, path: string, { clock, logger }: ServerOptions): Promise<Authorize> {
  checkFields(fields, path, webhookFields);
  const version = pick(fields['subjectAccessReviewVersion'], `${path}.subjectAccessReviewVersion`, ['v1', 'v1beta1'] as const);
  const failurePolicy = pick(fields['failurePolicy'], `${path}.failurePolicy`, ['NoOpinion', 'Deny'] as const);
  const timeoutMs = toDuration(fields['timeout'], `${path}.timeout`);
  if (timeoutMs <= 0 || timeoutMs > 30_000) throw new StartError(`${flag}: ${path}.timeout must be above 0 and at most 30s`);
  const connection = toFields(fields['connectionInfo'], `${path}.connectionInfo`);
  checkFields(connection, `${path}.connectionInfo`, ['type', 'kubeConfigFile']);
  pick(connection['type'], `${path}.connectionInfo.type`, ['KubeConfigFile']);
  const { url, ...target } = await readWebhookKubeconfig(flag, toText(connection['kubeConfigFile'], `${path}.connectionInfo.kubeConfigFile`));
  const matches = readConditions(fields, path);
  const kept = (name: string, otherwise: string, cached: unknown) => (cached === false ? 0 : toDuration(fields[name] ?? otherwise, `${path}.${name}`));
  return createWebhookAuthorizer({
    send: (review) => fetchJson(url, { ...target, timeoutMs, body: review }), clock, version, failurePolicy, ...(matches !== undefined && { matches }),
    onError: (error) => logger.warn('the authorization webhook did not answer', describeError(error)),
    allowedMs: kept('authorizedTTL', '5m', fields['cacheAuthorizedRequests']), refusedMs: kept('unauthorizedTTL', '30s', fields['cacheUnauthorizedRequests']),
  });
}

function readConditions(fields: Fields, path: string): MatchRequest | undefined {
  const rows = toList(fields['matchConditions'] ?? [], `${path}.matchConditions`);
  if (rows.length === 0) return undefined;
  if (rows.length > maxConditions) throw new StartError(`${flag}: ${path}.matchConditions: at most ${maxConditions} are allowed`);
  pick(fields['matchConditionSubjectAccessReviewVersion'], `${path}.matchConditionSubjectAccessReviewVersion`, ['v1']);
  const expressions = rows.map((row, index) => {
    const at = `${path}.matchConditions[${index}]`;
    checkFields(row, at, ['expression']);
    const expression = toText(row['expression'], `${at}.expression`);
    try {
      compileMatchConditions([expression]);
    } catch (error) {
      throw new StartError(`${flag}: ${at}.expression: ${(error as Error).message}`, { cause: error });
    }
    return expression;
  });
  if (new Set(expressions).size < expressions.length) throw new StartError(`${flag}: ${path}.matchConditions: an expression is given twice`);
  return compileMatchConditions(expressions);
}

async function parseFile(content: string): Promise<Fields> {
  try {
    const { value, duplicates } = await parseYaml(new TextEncoder().encode(content));
    if (duplicates.length > 0) throw new StartError(`${flag}: a field is given twice`);
    return toFields(value, 'the file');
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

function toFields(value: unknown, path: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new StartError(`${flag}: ${path} must be an object`);
}

function toList(value: unknown, path: string): readonly Fields[] {
  if (!Array.isArray(value)) throw new StartError(`${flag}: ${path} must be a list`);
  return value.map((one, index) => toFields(one, `${path}[${index}]`));
}

function checkFields(fields: Fields, path: string, known: readonly string[]): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new StartError(`${flag}: ${path === '' ? unknown : `${path}.${unknown}`} is not supported`);
}

function toText(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '') throw new StartError(`${flag}: ${path} is required`);
  return value;
}

function toDuration(value: unknown, path: string): number {
  const duration = parseDuration(toText(value, path));
  if (typeof duration === 'number') return duration;
  throw new StartError(`${flag}: ${path} must be a duration such as 30s`);
}

function pick<T extends string>(value: unknown, path: string, choices: readonly T[]): T {
  const found = choices.find((one) => one === value);
  if (found === undefined) throw new StartError(`${flag}: ${path} must be one of ${choices.join(', ')}`);
  return found;
}
