// DenyServiceExternalIPs: Services get no external addresses that they did not have.
import type { KubeObject } from '../../../apimachinery/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import { refuse, writes } from '../../refusal.ts';

const addressesOf = (service: KubeObject | undefined): readonly string[] =>
  ((service?.['spec'] ?? {}) as { readonly externalIPs?: readonly string[] }).externalIPs ?? [];

/** Makes the plugin. */
export function createExternalIpDenial(): AdmissionPlugin {
  return {
    name: 'DenyServiceExternalIPs',
    handles: (attributes) => writes(attributes, '/services', ['CREATE', 'UPDATE']),
    validate(attributes) {
      const before = new Set(addressesOf(attributes.oldObject));
      if (addressesOf(attributes.object).some((address) => !before.has(address))) {
        throw refuse(attributes, 'Use of external IPs is denied by admission control');
      }
    },
  };
}
