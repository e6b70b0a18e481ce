// Configurations of single admission plugins in the AdmissionConfiguration: PodSecurity, EventRateLimit, PodNodeSelector, ResourceQuota and others.
// A mistake in one ends the start. Kinds and fields are upstream's.
import {
  type EventLimit, type Level, type LimitedResource, type PluginConfigurations, type Policy, type Toleration, parseLevel, parseVersion,
  privilegedPolicy,
} from '../../admission/index.ts';
import { notSupported } from '../../apimachinery/index.ts';
import { type ConfigKinds, ConfigReader, type Fields, checkConfigKind, configVersions } from './config-file.ts';

const FLAG = '--admission-control-config-file';
const modes = ['enforce', 'audit', 'warn'] as const;
const limitTypes: readonly string[] = ['Server', 'Namespace', 'User', 'SourceAndObject'];

const versionsOf = (group: string, ...versions: readonly string[]): readonly string[] => versions.map((version) => `${group}/${version}`);
const kinds = {
  PodSecurity: { PodSecurityConfiguration: versionsOf('pod-security.admission.config.k8s.io', 'v1', 'v1beta1', 'v1alpha1') },
  EventRateLimit: { Configuration: versionsOf('eventratelimit.admission.k8s.io', 'v1alpha1') },
  PodTolerationRestriction: { Configuration: versionsOf('podtolerationrestriction.admission.k8s.io', 'v1alpha1') },
  ResourceQuota: {
    ResourceQuotaConfiguration: configVersions('v1'), Configuration: versionsOf('resourcequota.admission.k8s.io', 'v1beta1', 'v1alpha1'),
  },
} satisfies Record<string, ConfigKinds>;
const MAX_INT32 = 2_147_483_647;

function readPodSecurity(reader: ConfigReader, fields: Fields): PluginConfigurations['podSecurity'] {
  const { defaults, exemptions } = reader.fields(fields, '', ['apiVersion', 'kind', 'defaults', 'exemptions']);
  const given = reader.fields(defaults, 'defaults', modes.flatMap((mode) => [mode, `${mode}-version`]));
  const levels = modes.map((mode) => {
    const [levelText, versionText] = [reader.text(given[mode], `defaults.${mode}`), reader.text(given[`${mode}-version`], `defaults.${mode}-version`)];
    const level: Level | undefined = levelText === '' ? 'privileged' : parseLevel(levelText);
    const minor = versionText === '' ? 'latest' : parseVersion(versionText);
    if (level === undefined) reader.invalid(`defaults.${mode}`, levelText, 'must be one of privileged, baseline, restricted');
    if (minor === undefined) reader.invalid(`defaults.${mode}-version`, versionText, 'must be "latest" or "v1.x"');
    return [mode, { level: level ?? 'restricted', minor: minor ?? 'latest' }];
  });
  const exempt = reader.fields(exemptions, 'exemptions', ['usernames', 'namespaces', 'runtimeClasses']);
  const names = (field: string): string[] => reader.list(exempt[field],
    `exemptions.${field}`).map((name, index) => reader.text(name, `exemptions.${field}[${index}]`));
  return {
    defaults: { ...privilegedPolicy, ...Object.fromEntries(levels) } as Policy,
    exemptions: { usernames: names('usernames'), namespaces: names('namespaces'), runtimeClasses: names('runtimeClasses') },
  };
}

function readEventLimits(reader: ConfigReader, fields: Fields): readonly EventLimit[] {
  const { limits } = reader.fields(fields, '', ['apiVersion', 'kind', 'limits']);
  const rows = reader.list(limits, 'limits');
  if (rows.length === 0) reader.invalid('limits', limits ?? null, 'must not be empty');
  return rows.map((row, index) => {
    const at = `limits[${index}]`;
    const limit = reader.fields(row, at, ['type', 'qps', 'burst', 'cacheSize']) as Partial<EventLimit>;
    if (!limitTypes.includes(limit.type ?? '')) {
      const { message } = notSupported('', limit.type ?? '', limitTypes);
      reader.report(`${at}.type`, message);
    }
    for (const field of ['burst', 'qps', 'cacheSize'] as const) {
      const value = limit[field] ?? 0;
      if (!Number.isInteger(value) || Math.abs(value) > MAX_INT32) reader.fault(`${at}.${field}`, value, 'must be a whole number of 32 bits');
      else if (field !== 'cacheSize' && value <= 0) reader.invalid(`${at}.${field}`, value, 'must be positive');
    }
    if (limit.type !== 'Server' && (limit.cacheSize ?? 0) < 0) reader.invalid(`${at}.cacheSize`, limit.cacheSize, 'must not be negative');
    return { ...limit, ...(limit.cacheSize === 0 && { cacheSize: undefined }) } as EventLimit;
  });
}

function readTolerations(reader: ConfigReader, fields: Fields): PluginConfigurations['tolerationRules'] {
  // The reference decodes this file and the next ones leniently.
  const rules = fields;
  return { default: reader.list(rules['default'], 'default') as Toleration[], whitelist: reader.list(rules['whitelist'], 'whitelist') as Toleration[] };
}

function readSelectors(reader: ConfigReader, fields: Fields): PluginConfigurations['nodeSelectors'] {
  const selectors = Object.entries((fields['podNodeSelectorPluginConfig'] ?? {}) as object);
  return Object.fromEntries(selectors.map(([name, text]) => [name, reader.text(text, `podNodeSelectorPluginConfig.${name}`)]));
}

function readScope(reader: ConfigReader, row: unknown, at: string): LimitedResource['matchScopes'][number] {
  const { scopeName, operator, values } = reader.fields(row, at, ['scopeName', 'operator', 'values']);
  return {
    scopeName: reader.text(scopeName, `${at}.scopeName`), operator: reader.text(operator, `${at}.operator`),
    values: reader.list(values, `${at}.values`).map((value, index) => reader.text(value, `${at}.values[${index}]`)),
  };
}

function readLimitedResources(reader: ConfigReader, fields: Fields): readonly LimitedResource[] {
  const { limitedResources } = reader.fields(fields, '', ['apiVersion', 'kind', 'limitedResources']);
  return reader.list(limitedResources, 'limitedResources').map((row, index) => {
    const at = `limitedResources[${index}]`;
    const { apiGroup, resource, matchContains, matchScopes } = reader.fields(row, at, ['apiGroup', 'resource', 'matchContains', 'matchScopes']);
    return {
      apiGroup: reader.text(apiGroup, `${at}.apiGroup`), resource: reader.requiredText(resource, `${at}.resource`),
      matchContains: reader.list(matchContains, `${at}.matchContains`).map((part, place) => reader.text(part, `${at}.matchContains[${place}]`)),
      matchScopes: reader.list(matchScopes, `${at}.matchScopes`).map((scope, place) => readScope(reader, scope, `${at}.matchScopes[${place}]`)),
    };
  });
}

/** The configurations of plugins, by plugin; throws StartError for what is wrong with them. Those of plugins that read none are passed over. */
export function readPluginConfigurations(configurations: ReadonlyMap<string, Fields>): PluginConfigurations {
  const read = <T>(name: string, parse: (reader: ConfigReader, fields: Fields) => T): T | undefined => {
    const fields = configurations.get(name);
    if (fields === undefined) return undefined;
    const reader = new ConfigReader(`${FLAG}: ${name}`);
    if (name in kinds) checkConfigKind(`${FLAG}: ${name}`, fields, kinds[name as keyof typeof kinds]);
    const parsed = parse(reader, fields);
    reader.finish();
    return parsed;
  };
  return {
    podSecurity: read('PodSecurity', readPodSecurity), eventLimits: read('EventRateLimit', readEventLimits),
    nodeSelectors: read('PodNodeSelector', readSelectors), tolerationRules: read('PodTolerationRestriction', readTolerations),
    limitedResources: read('ResourceQuota', readLimitedResources),
  };
}
