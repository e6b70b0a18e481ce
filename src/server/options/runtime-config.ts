// --runtime-config: which group versions are served. Here they are those that the reference serves by default; settings that ask for these are
// accepted, settings that ask for others end the start.
import type { Catalog } from '../../registry/index.ts';
import { parseBool } from './feature-gates.ts';
import { StartError } from './options.ts';

type Served = Pick<Catalog, 'find' | 'groups'>;

const FLAG = '--runtime-config';
/** Groups of the reference, those included that have nothing to serve by default. */
const knownGroups: ReadonlySet<string> = new Set(`
  admission.k8s.io admissionregistration.k8s.io apiextensions.k8s.io apiregistration.k8s.io apps authentication.k8s.io authorization.k8s.io autoscaling
  batch certificates.k8s.io coordination.k8s.io discovery.k8s.io events.k8s.io extensions flowcontrol.apiserver.k8s.io imagepolicy.k8s.io
  internal.apiserver.k8s.io networking.k8s.io node.k8s.io policy rbac.authorization.k8s.io resource.k8s.io scheduling.k8s.io storage.k8s.io
  storagemigration.k8s.io`.trim().split(/\s+/));
/** Keys that stand for all versions of a form. */
const versionForms: Readonly<Record<string, RegExp>> = {
  'api/all': /^/, 'api/ga': /^v\d+$/, 'api/beta': /^v\d+beta\d+$/, 'api/alpha': /^v\d+alpha\d+$/,
};
/** Accepted without effect, as in the reference. */
const LEGACY = 'api/legacy';

/** Throws StartError, in the reference's words for what it refuses as well. */
export function checkRuntimeConfig(settings: readonly string[], served: Served): void {
  for (const setting of settings) {
    const [key = '', value = ''] = setting.split('=', 2);
    const isOn = value === '' ? true : parseBool(value);
    if (isOn === undefined) throw new StartError(`${FLAG}: invalid value of ${setting}: must be true or false`);
    if (key !== LEGACY && !isServedAs(key, isOn, served)) throw new StartError(`${FLAG}=${key}=${isOn} is not supported: what is served cannot be chosen`);
  }
}

/** Whether what a key stands for is served, or not served, as it shall be. Throws StartError for a key that stands for nothing. */
function isServedAs(key: string, isOn: boolean, served: Served): boolean {
  const form = Object.hasOwn(versionForms, key) ? versionForms[key] as RegExp : undefined;
  // Of each form but the stable one, the reference has versions that it does not serve by default.
  if (form !== undefined) return isOn ? key === 'api/ga' : !served.groups().some(({ versions }) => versions.some((version) => form.test(version)));
  if (key === 'v1') return isOn;
  const [group = '', version, plural] = key.split('/');
  if (version === undefined) throw new StartError(`${FLAG} invalid key ${key}`);
  if (!knownGroups.has(group)) throw new StartError(`${FLAG}: unknown api groups ${key}`);
  const isServed = plural === undefined ? served.groups().some(({ name, versions }) => name === group && versions.includes(version))
    : served.find(group, version, plural) !== undefined;
  return isServed === isOn;
}
