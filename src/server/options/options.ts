// Everything that can be chosen about a server: one flat record, checked once, then frozen. Its rows are in the files of this folder, flags
// (parse-flags.ts) are another spelling of it, and rules between options are here.
import type { AdmissionHook } from '../../admission/index.ts';
import { quoteGo } from '../../apimachinery/index.ts';
import { type Clock, type Random, systemClock, systemRandom } from '../../base/index.ts';
import type { ConvertObject } from '../webhooks/in-process-conversion.ts';
import { type Logger, silentLogger } from '../observability/logger.ts';
import { auditOptions, findAuditConflicts } from './audit.ts';
import { type ControllerName, behaviourOptions, findFlowConflicts } from './behaviour.ts';
import { findIdentityConflicts, findTokenConflicts, identityOptions } from './identity.ts';
import { findKubeletConflicts, kubeletOptions } from './kubelets.ts';
import { type SettingsOf, defaultsOf, findProblems, value } from './schema.ts';
import { findServingConflicts, servingOptions } from './serving.ts';
import { storageOptions } from './storage.ts';

/** All options of a server, in the order of the help. */
export const serverSchema = {
  ...servingOptions, ...identityOptions, ...kubeletOptions, ...auditOptions, ...behaviourOptions, ...storageOptions,
  admission: value<readonly AdmissionHook[]>([], 'Admission hooks that run in the process, before policies and webhooks.'),
  conversions: value<Readonly<Record<string, ConvertObject>>>({}, 'Conversions of custom kinds in place of webhooks, by the name of the definition; * for all others.'),
  clock: value<Clock>(systemClock, 'Where the server reads the time.'),
  random: value<Random>(systemRandom, 'Where the server takes random numbers from.'),
  logger: value<Logger>(silentLogger, 'Where the server logs; by default nowhere.'),
} as const;

/** The options of a server; each has a default. Durations are in milliseconds. */
export interface ServerOptions extends SettingsOf<typeof serverSchema> {}

/** A start that cannot succeed; the message is one line for the operator. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
  }
}

/** Adds the defaults, checks everything, freezes. Throws StartError. */
export function resolveOptions(given: Partial<ServerOptions>): ServerOptions {
  const chosen = Object.fromEntries(Object.entries(given).filter(([, setting]) => setting !== undefined)) as Partial<ServerOptions>;
  for (const name of Object.keys(chosen)) if (!Object.hasOwn(serverSchema, name)) throw new StartError(`unknown option ${name}`);
  const options: ServerOptions = { ...defaultsOf(serverSchema), ...chosen };
  const [problem] = [...findProblems(serverSchema, options), ...findConflicts(options)];
  if (problem !== undefined) throw new StartError(problem);
  return Object.freeze(options);
}

/** The options as workers and other processes get them: without what is no data. */
export function describeOptions({ clock: _clock, random: _random, logger: _logger, admission: _admission, conversions: _conversions,
  ...data }: ServerOptions): Partial<ServerOptions> {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => typeof value !== 'function'));
}

/** Reports options that do not fit each other. */
function findConflicts(options: ServerOptions): string[] {
  const rules: readonly (readonly [isBroken: boolean, message: string])[] = [
    [(options.tlsCertFile === '') !== (options.tlsPrivateKeyFile === ''), '--tls-cert-file and --tls-private-key-file must be given together'],
    [(options.etcdCertFile === '') !== (options.etcdKeyFile === ''), '--etcd-certfile and --etcd-keyfile must be given together'],
    [(options.datastoreCertFile === '') !== (options.datastoreKeyFile === ''), '--datastore-certfile and --datastore-keyfile must be given together'],
    [options.etcdServersOverrides.length > 0 && options.etcdServers.length === 0, '--etcd-servers-overrides needs --etcd-servers'],
    [options.datastoreEndpoint !== '' && options.etcdServers.length > 0, '--datastore-endpoint and --etcd-servers cannot be given together'],
    [
      options.datastoreEndpoint === '' && options.datastoreCaFile + options.datastoreCertFile !== '',
      '--datastore-cafile and --datastore-certfile need --datastore-endpoint',
    ],
    [
      (options.proxyClientCertFile === '') !== (options.proxyClientKeyFile === ''),
      '--proxy-client-cert-file and --proxy-client-key-file must be given together',
    ],
    [options.consoleOidcClientId !== '' && !options.console, '--console-oidc-client-id needs --console'],
    [
      options.consoleOidcClientId !== '' && options.oidcIssuerUrl === '' && options.authenticationConfig === '',
      '--console-oidc-client-id needs --oidc-issuer-url or --authentication-config',
    ],
    [
      options.consoleOidcClientId === '' && options.consoleOidcClientSecretFile + options.consoleOidcIssuerUrl !== '',
      '--console-oidc-client-secret-file and --console-oidc-issuer-url need --console-oidc-client-id',
    ],
    [!options.consoleOidcScopes.includes('openid'), '--console-oidc-scopes must include openid'],
    [options.oidcIssuerUrl !== '' && options.authenticationConfig !== '', '--oidc-issuer-url and --authentication-config cannot be given together'],
    [
      options.authorizationConfig !== '' && (options.authorizationMode.join() !== 'RBAC' || options.authorizationWebhookConfigFile !== ''),
      '--authorization-config cannot be given together with --authorization-mode or --authorization-webhook-config-file',
    ],
    [
      options.authorizationMode.includes('Webhook') && options.authorizationWebhookConfigFile === '',
      '--authorization-mode Webhook needs --authorization-webhook-config-file',
    ],
    [options.authorizationMode.includes('ABAC') && options.authorizationPolicyFile === '', "authorization-mode ABAC's authorization policy file not passed"],
    [
      options.authorizationPolicyFile !== '' && options.authorizationConfig === '' && !options.authorizationMode.includes('ABAC'),
      'cannot specify --authorization-policy-file without mode ABAC',
    ],
    [
      new Set(options.authorizationMode).size < options.authorizationMode.length,
      `authorization-mode [${options.authorizationMode.map(quoteGo).join(' ')}] has mode specified more than once`,
    ],
    [
      options.encryptionProviderConfigAutomaticReload && options.encryptionProviderConfig === '',
      '--encryption-provider-config-automatic-reload must be set with --encryption-provider-config',
    ],
    [options.requestheaderClientCaFile !== '' && options.requestheaderUsernameHeaders.length === 0, '--requestheader-username-headers must name a header'],
  ];
  return [...rules.filter(([isBroken]) => isBroken).map(([, message]) => message), ...findKubeletConflicts(options), ...findAuditConflicts(options),
    ...findPluginConflicts(options), ...findTokenConflicts(options), ...findIdentityConflicts(options),
    ...findServingConflicts(options), ...findFlowConflicts(options)];
}

/** Admission plugins that are asked for and refused at once, in the reference's words. */
function findPluginConflicts({ enableAdmissionPlugins: enabled, disableAdmissionPlugins: disabled }: ServerOptions): readonly string[] {
  const both = [...new Set(enabled)].filter((name) => disabled.includes(name)).sort();
  return both.length === 0 ? [] : [`[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`];
}

/** Whether `--controllers` selects this one; `-name` wins over `*`. */
export function selectsController(selection: readonly string[], name: ControllerName): boolean {
  return !selection.includes(`-${name}`) && (selection.includes(name) || selection.includes('*'));
}
