// Defaults of kinds that steer the server: rbac, admission, flow control, networking, storage, devices, extensions.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import { toText } from '../columns/common.ts';
import { ensureStruct, readPointer, readStructs, setAbsent, setZero } from './set.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

/** Defaults of rolebindings and clusterrolebindings. */
export function applyRoleBindingDefaults(binding: KubeObject): void {
  setZero(ensureStruct(binding, 'roleRef'), { apiGroup: rbacGroup });
  for (const subject of readStructs(binding, 'subjects')) {
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') setZero(subject, { apiGroup: rbacGroup });
  }
}

/** What a webhook or a policy matches: everything that is not excluded. */
function applyMatchDefaults(match: JsonObject): void {
  setAbsent(match, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} });
  for (const field of ['rules', 'resourceRules', 'excludeResourceRules']) for (const rule of readStructs(match, field)) setAbsent(rule, { scope: '*' });
}

function applyServicePort(parent: JsonObject | undefined): void {
  const service = readPointer(parent, 'service');
  if (service !== undefined) setAbsent(service, { port: 443 });
}

/** Defaults of validatingwebhookconfigurations. */
export function applyValidatingWebhookDefaults(configuration: KubeObject): void {
  for (const webhook of readStructs(configuration, 'webhooks')) {
    setAbsent(webhook, { failurePolicy: 'Fail', timeoutSeconds: 10 });
    applyMatchDefaults(webhook);
    applyServicePort(readPointer(webhook, 'clientConfig'));
  }
}

/** Defaults of mutatingwebhookconfigurations. */
export function applyMutatingWebhookDefaults(configuration: KubeObject): void {
  applyValidatingWebhookDefaults(configuration);
  for (const webhook of readStructs(configuration, 'webhooks')) setAbsent(webhook, { reinvocationPolicy: 'Never' });
}

/** Defaults of validatingadmissionpolicies and mutatingadmissionpolicies. */
export function applyAdmissionPolicyDefaults(policy: KubeObject): void {
  const spec = ensureStruct(policy, 'spec');
  setAbsent(spec, { failurePolicy: 'Fail' });
  const match = readPointer(spec, 'matchConstraints');
  if (match !== undefined) applyMatchDefaults(match);
}

/** Defaults of the bindings of admission policies. */
export function applyPolicyBindingDefaults(binding: KubeObject): void {
  const match = readPointer(readPointer(binding, 'spec'), 'matchResources');
  if (match !== undefined) applyMatchDefaults(match);
}

/** Defaults of flowschemas. */
export function applyFlowSchemaDefaults(flowSchema: KubeObject): void {
  setZero(ensureStruct(flowSchema, 'spec'), { matchingPrecedence: 1000 });
}

/** Defaults of prioritylevelconfigurations. */
export function applyPriorityLevelDefaults(level: KubeObject): void {
  const spec = ensureStruct(level, 'spec');
  const limited = readPointer(spec, 'limited');
  if (limited !== undefined) setAbsent(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 });
  const queuing = readPointer(readPointer(limited, 'limitResponse'), 'queuing');
  if (queuing !== undefined) setZero(queuing, { queues: 64, handSize: 8, queueLengthLimit: 50 });
  const exempt = readPointer(spec, 'exempt');
  if (exempt !== undefined) setAbsent(exempt, { nominalConcurrencyShares: 0, lendablePercent: 0 });
}

/** Defaults of networkpolicies: a policy with egress rules is about both directions. */
export function applyNetworkPolicyDefaults(policy: KubeObject): void {
  const spec = ensureStruct(policy, 'spec');
  const egress = readStructs(spec, 'egress');
  for (const rule of [...readStructs(spec, 'ingress'), ...egress]) {
    for (const port of readStructs(rule, 'ports')) setAbsent(port, { protocol: 'TCP' });
  }
  const types = spec['policyTypes'];
  if (!Array.isArray(types) || types.length === 0) spec['policyTypes'] = egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

/** Defaults of ingressclasses. */
export function applyIngressClassDefaults(ingressClass: KubeObject): void {
  const parameters = readPointer(readPointer(ingressClass, 'spec'), 'parameters');
  if (parameters !== undefined) setAbsent(parameters, { scope: 'Cluster' });
}

/** Defaults of endpointslices. */
export function applyEndpointSliceDefaults(slice: KubeObject): void {
  for (const port of readStructs(slice, 'ports')) setAbsent(port, { name: '', protocol: 'TCP' });
}

/** Defaults of storageclasses. */
export function applyStorageClassDefaults(storageClass: KubeObject): void {
  setAbsent(storageClass as JsonObject, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
}

/** Defaults of csidrivers. */
export function applyCsiDriverDefaults(driver: KubeObject): void {
  const spec = ensureStruct(driver, 'spec');
  setAbsent(spec, {
    attachRequired: true, podInfoOnMount: false, storageCapacity: false, fsGroupPolicy: 'ReadWriteOnceWithFSType', requiresRepublish: false,
    seLinuxMount: false,
  });
  const modes = spec['volumeLifecycleModes'];
  if (!Array.isArray(modes) || modes.length === 0) spec['volumeLifecycleModes'] = ['Persistent'];
}

/** Defaults of priorityclasses. */
export function applyPriorityClassDefaults(priorityClass: KubeObject): void {
  setAbsent(priorityClass as JsonObject, { preemptionPolicy: 'PreemptLowerPriority' });
}

function applyDeviceDefaults(spec: JsonObject | undefined): void {
  for (const request of readStructs(readPointer(spec, 'devices'), 'requests')) {
    const exactly = readPointer(request, 'exactly');
    for (const wanted of [...(exactly === undefined ? [] : [exactly]), ...readStructs(request, 'firstAvailable')]) {
      setZero(wanted, { allocationMode: 'ExactCount' });
      if (wanted['allocationMode'] === 'ExactCount') setZero(wanted, { count: 1 });
    }
  }
}

/** Defaults of resourceclaims. */
export function applyResourceClaimDefaults(claim: KubeObject): void {
  applyDeviceDefaults(readPointer(claim, 'spec'));
}

/** Defaults of resourceclaimtemplates. */
export function applyResourceClaimTemplateDefaults(template: KubeObject): void {
  applyDeviceDefaults(readPointer(readPointer(template, 'spec'), 'spec'));
}

/** Defaults of apiservices. */
export function applyApiServiceDefaults(apiService: KubeObject): void {
  applyServicePort(readPointer(apiService, 'spec'));
}

/** Defaults of customresourcedefinitions: the names that follow from the kind, and no conversion. */
export function applyDefinitionDefaults(definition: KubeObject): void {
  const spec = ensureStruct(definition, 'spec');
  const names = ensureStruct(spec, 'names');
  const kind = toText(names['kind']);
  if (kind !== '') setZero(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
  const conversion = ensureStruct(spec, 'conversion');
  setZero(conversion, { strategy: 'None' });
  applyServicePort(readPointer(readPointer(conversion, 'webhook'), 'clientConfig'));
}
