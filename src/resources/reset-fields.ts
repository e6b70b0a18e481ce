// Paths that requests to an object or a subresource never write, and so never own, where that is not the rule: the object resets its
// status, the status path resets the spec. Mirrors GetResetFields of the reference's strategies.
import type { Resource } from '../registry/index.ts';

type ResetFields = NonNullable<Resource['resetFields']>;

/** The status path of these kinds writes nothing of metadata either. */
const separated: ResetFields = { status: [['spec'], ['metadata']] };

/** Reset paths by `group/Kind`. */
export const resetFieldsByKind: Readonly<Record<string, ResetFields>> = {
  '/Pod': { status: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']] },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': separated,
  'apiextensions.k8s.io/CustomResourceDefinition': separated,
  'apiregistration.k8s.io/APIService': separated,
  'apps/Deployment': { status: [['spec'], ['metadata', 'labels']] },
  'certificates.k8s.io/CertificateSigningRequest': {
    '': [['spec'], ['status']], status: [['spec'], ['status', 'conditions']], approval: [['spec'], ['status', 'certificate']],
  },
  'flowcontrol.apiserver.k8s.io/FlowSchema': separated,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': separated,
  'networking.k8s.io/ServiceCIDR': separated,
  'resource.k8s.io/ResourceClaim': separated,
  'storage.k8s.io/VolumeAttachment': separated,
};
