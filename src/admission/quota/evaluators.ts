// The evaluators of all resources: pods, services and claims of volumes and devices have rules of their own; of everything else the objects are counted.
import type { Resource } from '../../registry/index.ts';
import { oneAmount } from './amounts.ts';
import { claimEvaluator } from './claims.ts';
import { type DeviceReads, createDeviceClaimEvaluator, deviceClaimEvaluator } from './device-claims.ts';
import type { Evaluator } from './evaluator.ts';
import { podEvaluator } from './pods.ts';
import { serviceEvaluator } from './services.ts';

const special: ReadonlyMap<string, Evaluator> = new Map([
  ['/pods', podEvaluator], ['/services', serviceEvaluator], ['/persistentvolumeclaims', claimEvaluator],
  ['resource.k8s.io/resourceclaims', deviceClaimEvaluator],
]);

/** Resources that quotas counted before `count/` was there, under their plain name. */
const plainNames: ReadonlySet<string> = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

/** The name under which objects of a resource are counted. */
export const countName = ({ group, plural }: Pick<Resource, 'group' | 'plural'>): string => `count/${plural}${group === '' ? '' : `.${group}`}`;

function countObjects(resource: Pick<Resource, 'group' | 'plural'>): Evaluator {
  const names = [countName(resource), ...(resource.group === '' && plainNames.has(resource.plural) ? [resource.plural] : [])];
  const constantUsage = new Map(names.map((name) => [name, oneAmount]));
  return {
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    matches: (name) => names.includes(name),
    matchesScope: () => false,
    check: () => undefined,
    usage: () => constantUsage,
    constantUsage,
  };
}

/** Finds the evaluator of a resource. */
export type EvaluatorOf = (resource: Pick<Resource, 'group' | 'plural'>) => Evaluator;

/** The evaluators; with reads, classes of devices stand for extended resources. */
export function createEvaluators(devices: DeviceReads | undefined): EvaluatorOf {
  const known = new Map(special);
  if (devices !== undefined) known.set('resource.k8s.io/resourceclaims', createDeviceClaimEvaluator(devices));
  return (resource) => known.get(`${resource.group}/${resource.plural}`) ?? countObjects(resource);
}
