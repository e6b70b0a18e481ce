// AuthorizationConfiguration (apiserver.config.k8s.io), read into modes and the webhooks among them. Mirrors the reference's validation of such files.
import { isAbsolute } from 'node:path';
import { checkDnsSubdomain, loadPatternEngine } from '../../apimachinery/index.ts';
import { type AbacPolicies, type AuthorizationMode, type Authorize, type MatchRequest, authorizationModes, compileMatchConditions,
  createWebhookAuthorizer } from '../../auth/index.ts';
import { ConfigReader, type Fields, configVersions, parseConfigFile } from './config-file.ts';
import type { Routed } from '../webhooks/egress.ts';
import { JsonClient } from '../webhooks/json-client.ts';
import { describeError } from '../observability/logger.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import type { ReloadObserver } from '../metrics/reload-metrics.ts';
import { type Followed, readFollowed } from './followed-files.ts';
import { type WebhookTarget, readWebhookKubeconfig } from '../webhooks/token-webhook.ts';

/** The modes, in the order in which they are asked; each mode that is Webhook takes the next of the webhooks. */
export interface AuthorizationChain {
  readonly modes: readonly AuthorizationMode[];
  readonly webhooks: readonly Authorize[];
  /** What the modes are called in a configuration; those of flags are called as the reference calls them. */
  readonly names?: readonly string[];
}

/** The chain of a server's start, and those that take its place later where there can be any. */
export type AuthorizationPlan = AuthorizationChain & Partial<Followed<AuthorizationChain>> & {
  /** The policies of the ABAC mode. */
  readonly abac?: AbacPolicies;
};

const FLAG = '--authorization-config';
const MAX_CONDITIONS = 64;
const kinds = { AuthorizationConfiguration: configVersions('v1', 'v1beta1', 'v1alpha1') };

/** Reads the file, and again whenever it changes. Throws StartError that names the fields. */
export function readAuthorizationConfiguration(options: ServerOptions & Routed, observer: ReloadObserver | undefined): Promise<AuthorizationPlan> {
  return readFollowed({
    flag: FLAG, path: options.authorizationConfig, what: 'the authorization configuration', options, observer,
    async read(content, first: AuthorizationChain | undefined) {
      const chain = await readChain(content, options);
      if (first !== undefined) checkSameModes(first.modes, chain.modes);
      return chain;
    },
  });
}

/** Only webhooks come and go while a server runs: the other modes follow objects from its start on. */
function checkSameModes(first: readonly AuthorizationMode[], next: readonly AuthorizationMode[]): void {
  const fixed = (modes: readonly AuthorizationMode[]) => modes.filter((mode) => mode !== 'Webhook').sort().join(', ');
  if (fixed(first) !== fixed(next)) throw new StartError(`${FLAG}: authorizers: types other than Webhook cannot change without a restart`);
}

async function readChain(content: string, options: ServerOptions & Routed): Promise<AuthorizationChain> {
  const reader = new ConfigReader(FLAG);
  const file = reader.fields(await parseConfigFile(FLAG, content, kinds), '', ['apiVersion', 'kind', 'authorizers']);
  const rows = reader.list(file['authorizers'], 'authorizers');
  if (rows.length === 0) reader.required('authorizers', 'at least one authorization mode must be defined');
  await loadPatternEngine();
  const names = new Set<string>();
  const modes: AuthorizationMode[] = [];
  const called: string[] = [];
  const webhooks: Authorize[] = [];
  for (const [index, row] of rows.entries()) {
    const path = `authorizers[${index}]`;
    const fields = reader.fields(row, path, ['type', 'name', 'webhook']);
    const [mode, webhook] = [reader.choice(fields['type'], `${path}.type`, [...authorizationModes].sort()), fields['webhook'] ?? undefined];
    if (mode === undefined) continue;
    if (mode !== 'Webhook' && modes.includes(mode)) {
      reader.duplicate(`${path}.type`, mode);
      continue;
    }
    const name = reader.requiredText(fields['name'], `${path}.name`);
    checkName(reader, { name, path: `${path}.name`, names });
    if (mode === 'ABAC' && options.authorizationPolicyFile === '') reader.report(`${path}.type`, 'ABAC needs --authorization-policy-file');
    modes.push(mode);
    called.push(name);
    if (mode !== 'Webhook' && webhook !== undefined) reader.invalid(`${path}.webhook`, 'non-null', 'may only be specified when type=Webhook');
    if (mode !== 'Webhook') continue;
    if (webhook === undefined) reader.required(`${path}.webhook`, 'required when type=Webhook');
    else webhooks.push(await readWebhook(webhook, { reader, path, options }));
  }
  reader.finish();
  checkNames(modes, called);
  return { modes, webhooks, names: called };
}

/** Only webhooks have names of their own: the others are called as they are without a file, in metrics as well. */
function checkNames(modes: readonly AuthorizationMode[], names: readonly string[]): void {
  const reader = new ConfigReader(FLAG);
  for (const [index, mode] of modes.entries()) {
    const [name = '', expected] = [names[index], mode.toLowerCase()];
    if (mode !== 'Webhook' && name !== expected) reader.report('', `expected name ${expected} for authorizer ${mode} instead of ${name}`);
  }
  reader.finish();
}

function checkName(reader: ConfigReader, { name, path, names }: { readonly name: string; readonly path: string; readonly names: Set<string> }): void {
  if (name === '') return;
  const problems = checkDnsSubdomain(name);
  if (names.has(name)) reader.duplicate(path, name);
  else if (problems.length > 0) reader.invalid(path, name, `authorizer name is invalid: ${problems.join(', ')}`);
  names.add(name);
}

interface ConfigField {
  readonly reader: ConfigReader;
  /** Of the authorizer: the reference leaves the webhook out of the paths of what is wrong with it. */
  readonly path: string;
  readonly options: ServerOptions & Routed;
}

const webhookFields = [
  'authorizedTTL', 'cacheAuthorizedRequests', 'unauthorizedTTL', 'cacheUnauthorizedRequests', 'timeout', 'subjectAccessReviewVersion',
  'matchConditionSubjectAccessReviewVersion', 'failurePolicy', 'connectionInfo', 'matchConditions',
];

async function readWebhook(value: unknown, place: ConfigField): Promise<Authorize> {
  const { reader, path, options: { clock, logger, egress } } = place;
  const fields = reader.fields(value, `${path}.webhook`, webhookFields);
  const timeoutMs = readTimeout(fields, place);
  const [allowedMs, refusedMs] = [readKept(fields, 'authorizedTTL', place), readKept(fields, 'unauthorizedTTL', place)];
  const version = reader.choice(fields['subjectAccessReviewVersion'], `${path}.subjectAccessReviewVersion`, ['v1', 'v1beta1'] as const);
  const failurePolicy = reader.choice(fields['failurePolicy'], `${path}.failurePolicy`, ['NoOpinion', 'Deny'] as const);
  const { url, ...target } = await readConnection(fields['connectionInfo'], place);
  const matches = readConditions(fields, place);
  const client = new JsonClient(clock, { ...target, dial: egress.controlplane, measure: egress.measure });
  return createWebhookAuthorizer({
    send: (review) => client.ask(url, review, timeoutMs), clock,
    ...(version !== undefined && { version }), ...(failurePolicy !== undefined && { failurePolicy }), ...(matches !== undefined && { matches }),
    onError: (error) => logger.warn('the authorization webhook did not answer', describeError(error)),
    allowedMs, refusedMs,
  });
}

/** How long answers are kept: the default of each, and whether they are kept at all. */
const keptAnswers = {
  authorizedTTL: { defaultMs: 300_000, isKept: 'cacheAuthorizedRequests' }, unauthorizedTTL: { defaultMs: 30_000, isKept: 'cacheUnauthorizedRequests' },
} as const;

function readKept(fields: Fields, name: keyof typeof keptAnswers, { reader, path }: ConfigField): number {
  const { defaultMs, isKept } = keptAnswers[name];
  const ms = reader.duration(fields[name], `${path}.${name}`) || defaultMs;
  if (ms < 0) reader.invalid(`${path}.${name}`, fields[name], 'must be > 0s');
  return reader.boolean(fields[isKept], `${path}.${isKept}`, true) ? ms : 0;
}

function readTimeout(fields: Fields, { reader, path }: ConfigField): number {
  const timeoutMs = reader.duration(fields['timeout'], `${path}.timeout`);
  if (timeoutMs === 0) reader.required(`${path}.timeout`);
  if (timeoutMs < 0 || timeoutMs > 30_000) reader.invalid(`${path}.timeout`, fields['timeout'], 'must be > 0s and <= 30s');
  return timeoutMs;
}

async function readConnection(value: unknown, { reader, path: above }: ConfigField): Promise<WebhookTarget> {
  const path = `${above}.connectionInfo`;
  const fields = reader.fields(value, `${above}.webhook.connectionInfo`, ['type', 'kubeConfigFile']);
  const type = reader.choice(fields['type'], `${path}.type`, ['KubeConfigFile']);
  const file = reader.text(fields['kubeConfigFile'], `${path}.kubeConfigFile`);
  const nowhere: WebhookTarget = { url: '' };
  if (type === undefined) return nowhere;
  if (file === '') reader.required(`${path}.kubeConfigFile`);
  else if (!isAbsolute(file)) reader.invalid(`${path}.kubeConfigFile`, file, 'must be an absolute path');
  else {
    try {
      return await readWebhookKubeconfig(FLAG, file);
    } catch (error) {
      reader.invalid(`${path}.kubeConfigFile`, file, `error loading file: ${(error as Error).message.replace(`${FLAG}: `, '')}`);
    }
  }
  return nowhere;
}

function readConditions(fields: Fields, { reader, path: above }: ConfigField): MatchRequest | undefined {
  const path = `${above}.matchConditions`;
  const rows = reader.list(fields['matchConditions'], path);
  const versionPath = `${above}.matchConditionSubjectAccessReviewVersion`;
  if (rows.length > 0 && !fields['matchConditionSubjectAccessReviewVersion']) reader.required(versionPath, 'required if match conditions are specified');
  else if (fields['matchConditionSubjectAccessReviewVersion']) reader.choice(fields['matchConditionSubjectAccessReviewVersion'], versionPath, ['v1']);
  if (rows.length > MAX_CONDITIONS) {
    reader.report(path, `Too many: ${rows.length}: must have at most ${MAX_CONDITIONS} items`);
    return undefined;
  }
  const expressions = new Set<string>();
  for (const [index, row] of rows.entries()) {
    const at = `${path}[${index}]`;
    const expression = reader.text(reader.fields(row, `${above}.webhook.matchConditions[${index}]`, ['expression'])['expression'], `${at}.expression`);
    if (expression.trim() === '') reader.required(`${at}.expression`);
    else if (expressions.has(expression)) reader.duplicate(`${at}.expression`, expression);
    else if (reader.compile(expression, `${at}.expression`, (text) => compileMatchConditions([text])) !== undefined) expressions.add(expression);
  }
  return expressions.size === 0 ? undefined : compileMatchConditions([...expressions]);
}
