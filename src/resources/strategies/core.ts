// Strategies of the core kinds that run no pods.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import { type Strategy, formatTime } from '../../registry/index.ts';
import { readPath, toList, toText } from '../columns/common.ts';
import { labelNamespace } from '../defaults/cluster.ts';
import * as cluster from '../defaults/cluster.ts';
import { ensureStruct, readPointer } from '../defaults/set.ts';
import { applyClaimDefaults, applyVolumeObjectDefaults } from '../defaults/volumes.ts';
import { copyMember, prepareWithStatus } from './status.ts';

/** What makes resourcequotas special. */
export const resourceQuotaStrategy: Strategy = { applyDefaults: cluster.applyResourceQuotaDefaults };

const namespaceFinalizer = 'kubernetes';

function prepareNamespace(namespace: KubeObject): void {
  labelNamespace(namespace);
  namespace['status'] = { phase: 'Active' };
  const spec = ensureStruct(namespace, 'spec');
  const finalizers = toList(spec['finalizers']);
  if (!finalizers.includes(namespaceFinalizer)) spec['finalizers'] = [...finalizers, namespaceFinalizer];
}

/** What makes namespaces special: finalizers of the spec are written through `finalize` only, and hold a deletion, which is a phase. */
export const namespaceStrategy: Strategy = {
  applyDefaults: cluster.applyNamespaceDefaults,
  prepareForCreate: prepareNamespace,
  prepareForUpdate(namespace, old, { subresource }) {
    if (subresource !== 'finalize') copyMember(namespace, old, 'spec');
  },
  terminate(namespace) {
    namespace['status'] = { ...ensureStruct(namespace, 'status'), phase: 'Terminating' };
  },
  holdsDeletion: (namespace) => toList(readPath(namespace, 'spec', 'finalizers')).length > 0,
};

/** What makes nodes special. */
export const nodeStrategy: Strategy = { applyDefaults: cluster.applyNodeDefaults };

/** What makes persistentvolumes special: the time of the last phase change is kept by the server. */
export const volumeStrategy: Strategy = {
  applyDefaults: applyVolumeObjectDefaults,
  ...prepareWithStatus({
    prepareForCreate(volume, { nowMs }) {
      volume['status'] = { phase: 'Pending', lastPhaseTransitionTime: formatTime(nowMs) };
    },
    prepareForStatus(volume, old, { nowMs }) {
      const status = ensureStruct(volume, 'status');
      const before = readPointer(old, 'status');
      const sameTime = status['lastPhaseTransitionTime'] === undefined || status['lastPhaseTransitionTime'] === before?.['lastPhaseTransitionTime'];
      if (status['phase'] !== before?.['phase'] && sameTime) status['lastPhaseTransitionTime'] = formatTime(nowMs);
    },
  }),
};

/** What the older field can name; anything else is forgotten, as it was before the newer one. */
function isKnownSource(source: unknown): boolean {
  const [group, kind] = [toText(readPath(source, 'apiGroup')), toText(readPath(source, 'kind'))];
  return group === '' ? kind === 'PersistentVolumeClaim' : group === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot';
}

/** Sources in other namespaces are dropped, as the reference does by default. Both spellings of a source say the same. */
function mirrorDataSource(claim: KubeObject, old?: KubeObject): void {
  const spec = ensureStruct(claim, 'spec');
  const isUsed = (name: string): boolean => readPath(old, 'spec', name) !== undefined;
  if (toText(readPath(spec['dataSourceRef'], 'namespace')) !== '' && !isUsed('dataSourceRef')) delete spec['dataSourceRef'];
  const isForgotten = !isUsed('dataSource') && spec['dataSourceRef'] === undefined && !isKnownSource(spec['dataSource']);
  if (isForgotten) delete spec['dataSource'];
  const { dataSource, dataSourceRef } = spec as { dataSource?: JsonObject; dataSourceRef?: JsonObject };
  if (dataSource && !dataSourceRef) spec['dataSourceRef'] = { ...dataSource };
  if (!dataSource && dataSourceRef && toText(readPath(dataSourceRef, 'namespace')) === '') spec['dataSource'] = { ...dataSourceRef };
}

/** What makes persistentvolumeclaims special. */
export const claimStrategy: Strategy = {
  applyDefaults: applyClaimDefaults,
  ...prepareWithStatus({
    prepareForCreate(claim) {
      claim['status'] = { phase: 'Pending' };
      mirrorDataSource(claim);
    },
    prepareForUpdate: mirrorDataSource,
  }),
};

/** References to secrets are names: what else they say is forgotten. */
function keepSecretNames(account: KubeObject): void {
  if (!Array.isArray(account['secrets'])) return;
  account['secrets'] = account['secrets'].map((secret) => {
    const name = toText(readPath(secret, 'name'));
    return name === '' ? {} : { name };
  });
}

/** What makes serviceaccounts special. */
export const accountStrategy: Strategy = { prepareForCreate: keepSecretNames, prepareForUpdate: keepSecretNames };
