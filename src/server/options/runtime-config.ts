// --runtime-config: which versions of the built-in kinds are served: stable ones unless a setting turns them off, alpha and beta ones when a setting asks
// for them, and the feature gate of their kind is on. Mirrors the reference's resource config.
import { type IsHidden, type Resource, type ResourceVersionRow, isStable } from '../../registry/index.ts';
import { parseBool } from './go-values.ts';
import { StartError } from './options.ts';

const FLAG = '--runtime-config';
/** The versions that the reference has types of, served or not. */
const registeredVersions: ReadonlyMap<string, readonly string[]> = new Map(`
  admission.k8s.io v1 v1beta1
  admissionregistration.k8s.io v1 v1beta1 v1alpha1
  apps v1 v1beta2 v1beta1
  authentication.k8s.io v1 v1beta1 v1alpha1
  authorization.k8s.io v1 v1beta1
  autoscaling v2 v1
  batch v1 v1beta1
  certificates.k8s.io v1 v1beta1 v1alpha1
  coordination.k8s.io v1 v1beta1 v1alpha2
  discovery.k8s.io v1 v1beta1
  events.k8s.io v1 v1beta1
  extensions v1beta1
  flowcontrol.apiserver.k8s.io v1 v1beta3 v1beta2 v1beta1
  imagepolicy.k8s.io v1alpha1
  internal.apiserver.k8s.io v1alpha1
  networking.k8s.io v1 v1beta1
  node.k8s.io v1 v1beta1
  policy v1 v1beta1
  rbac.authorization.k8s.io v1 v1beta1 v1alpha1
  resource.k8s.io v1 v1beta2 v1beta1 v1alpha3
  scheduling.k8s.io v1 v1beta1 v1alpha2
  storage.k8s.io v1 v1beta1 v1alpha1
  storagemigration.k8s.io v1beta1`.trim().split('\n').map((line) => line.trim().split(' ')).map(([group = '', ...versions]) => [group, versions]));
/** Groups of servers that are part of the reference and look at no version of others. */
const otherGroups: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);
const aggregation = { group: 'apiregistration.k8s.io', plural: '' };
/** Keys that stand for all versions of a form, in the order in which they are applied. */
const versionForms: readonly (readonly [key: string, form: RegExp])[] = [
  ['api/all', /^/], ['api/ga', /^v\d+$/], ['api/beta', /^v\d+beta\d+$/], ['api/alpha', /^v\d+alpha\d+$/],
];
/** Accepted without effect, as in the reference. */
const LEGACY = 'api/legacy';

interface Setting {
  readonly key: string;
  readonly isOn: boolean;
}

/** `api/v1` is another name of the core group's version, and `api/v1/pods` of one of its resources. */
const coreKey = (key: string): string => (key === 'api/v1' || key.startsWith('api/v1/') ? key.slice('api/'.length) : key);

/** The settings; the last one of a key counts. Throws StartError for what the reference refuses, in its words. */
function readSettings(texts: readonly string[]): readonly Setting[] {
  const settings = new Map<string, boolean>();
  for (const text of texts) {
    const [key = '', value = ''] = text.split('=', 2);
    if (key !== LEGACY) settings.set(coreKey(key), readValue(key, value));
  }
  if (settings.size === 1 && settings.get('api/all') === false) throw new StartError('invalid runtime-config with only api/all=false');
  return [...settings].map(([key, isOn]) => ({ key, isOn }));
}

function readValue(key: string, value: string): boolean {
  if (versionForms.some(([form]) => form === key)) {
    if (value !== 'true' && value !== 'false') throw new StartError(`${FLAG}: invalid value ${key}=${value}`);
    return value === 'true';
  }
  if (key !== 'v1' && key !== 'api/v1') checkKey(key);
  const isOn = value === '' ? true : parseBool(value);
  if (isOn === undefined) throw new StartError(`${FLAG}: invalid value of ${key}: ${value}: must be true or false`);
  return isOn;
}

function checkKey(key: string): void {
  const [group = '', version, plural = '', ...rest] = key.split('/');
  if (group === 'api' && version === 'v1' && rest.length === 0) return checkPlural(key, plural);
  if (version === undefined || rest.length > 0) throw new StartError(`${FLAG} invalid key ${key}`);
  if (otherGroups.has(group)) return;
  const versions = registeredVersions.get(group);
  if (versions === undefined) throw new StartError(`${FLAG}: unknown api groups ${group}/${version}`);
  if (!versions.includes(version)) throw new StartError(`${FLAG}: group version ${group}/${version} that has not been registered`);
  checkPlural(key, plural);
}

function checkPlural(key: string, plural: string): void {
  if (plural.toLowerCase() === plural) return;
  throw new StartError(`${FLAG}: invalid key ${key}: group/version/resource and resource is always lowercase plural, not ${JSON.stringify(plural)}`);
}

/** Whether the settings ask for a resource in a version: the most exact setting counts. */
function isAsked(settings: readonly Setting[], { group, plural }: Pick<Resource, 'group' | 'plural'>, version: string): boolean {
  if (settings.length === 0) return isStable(version);
  const find = (key: string): boolean | undefined => settings.find((setting) => setting.key === key)?.isOn;
  const groupVersion = group === '' ? version : `${group}/${version}`;
  const byForm = versionForms.filter(([, form]) => form.test(version)).map(([key]) => find(key)).filter((isOn) => isOn !== undefined).at(-1);
  return find(`${groupVersion}/${plural}`) ?? find(groupVersion) ?? byForm ?? isStable(version);
}

/** What decides besides the rows. */
interface ServedOptions {
  readonly runtimeConfig: readonly string[];
  readonly isGateOn: (gate: string) => boolean;
  /** Called for each resource that is asked for and not served, because its gate is off. */
  readonly onGated: (resource: Resource) => void;
}

/** The rows that are served, and which of their versions are not although they are stable: the server itself still uses these. */
export interface ServedRows {
  readonly rows: readonly Resource[];
  /** Absent where every stable version is served. */
  readonly isHidden?: IsHidden;
}

/** The rows that are served, each with its served versions marked. Throws StartError for settings that cannot be followed. */
export function chooseServed(rows: readonly Resource[], { runtimeConfig, isGateOn, onGated }: ServedOptions): ServedRows {
  const settings = readSettings(runtimeConfig);
  // The reference's groups are served by three servers, and the one of APIServices does not start without its own.
  if (!isAsked(settings, aggregation, 'v1')) throw new StartError(`API group/version ${aggregation.group}/v1 must be enabled`);
  const hidden = new Set<string>();
  const served = rows.flatMap((row) => {
    const asked = row.versions.map((version) => isAsked(settings, row, version.name));
    row.versions.forEach(({ name }, index) => {
      if (isStable(name) && asked[index] !== true) hidden.add(keyOf(row, name));
    });
    // Rows that stay as they are belong to the process, whatever the number of its servers.
    const isServed = (version: ResourceVersionRow, index: number): boolean => asked[index] === true || isStable(version.name);
    const isAsItIs = row.versions.every((version, index) => version.served === isServed(version, index));
    const versions = isAsItIs ? row.versions : row.versions.map((version, index) => ({ ...version, served: isServed(version, index) }));
    if (!versions.some((version) => version.served)) return [];
    if (row.gate === undefined || isGateOn(row.gate)) return [isAsItIs ? row : { ...row, versions }];
    if (asked.includes(true)) onGated(row);
    return [];
  });
  return { rows: served, ...(hidden.size > 0 && { isHidden: (row, version) => !row.custom && hidden.has(keyOf(row, version)) }) };
}

const keyOf = ({ group, plural }: Resource, version: string): string => `${group}/${version}/${plural}`;
