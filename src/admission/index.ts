// The door of admission: what may be written, beyond what is valid. The registry gets the chain as two functions.
export { type AdmissionPlugin, createAdmissionChain } from './chain.ts';
export { type MayUseSigner, createCertificateAdmission } from './plugins/certificates.ts';
export { createNamespaceLifecycle, findNamespaceWith } from './plugins/namespace-lifecycle.ts';
export { createNodeRestriction } from './plugins/node-restriction.ts';
export { type EscalationQuestions, createRbacEscalation } from './plugins/rbac-escalation.ts';
export { createServiceAccountAdmission } from './plugins/service-account.ts';
export { createAddressClaims, listReadyRanges } from './services/addresses.ts';
export { canonicalIp } from './services/allocate-addresses.ts';
export { type ServiceAllocationOptions, createServiceAllocation } from './services/allocation.ts';
export { createPortClaims } from './services/node-ports.ts';
export type { Claims, Owner } from './services/pool.ts';
export { heldAddresses, heldNodePorts, specOf as serviceSpecOf } from './services/service.ts';
export { createDefaultPlugins } from './plugins/defaults.ts';
export { createReads } from './reads.ts';
