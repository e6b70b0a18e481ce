// Names of compute resources that objects request, limit and count: the standard ones, and those with a domain prefix.
import { checkQualifiedName, invalidTyped } from '../../../apimachinery/index.ts';
import { type Errors, checkTypedText } from './check.ts';

/** Compute resources under the names of quotas. */
export const computeNames = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

/** Resources that count objects. */
export const countNames = [
  'pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets', 'configmaps', 'persistentvolumeclaims', 'services.nodeports',
  'services.loadbalancers',
];
const storageNames = ['ephemeral-storage', 'requests.ephemeral-storage', 'limits.ephemeral-storage', 'requests.storage', 'storage'];
const hugePages = /^(?:requests\.)?hugepages-/;

/** Whether a name without a domain is a standard resource of any kind. */
export const isStandardName = (name: string): boolean => [...computeNames, ...countNames, ...storageNames].includes(name) || hugePages.test(name);

/** The name of a resource: qualified, and a standard one unless it has a domain. */
export function checkResourceName(path: string, name: string): Errors {
  const problems = checkTypedText({ path, value: name }, checkQualifiedName);
  if (problems.length > 0 || name.includes('/')) return problems;
  return isStandardName(name) ? [] : [invalidTyped(path, name, 'must be a standard resource type or fully qualified')];
}
