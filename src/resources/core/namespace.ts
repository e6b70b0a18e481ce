// core/v1 Namespace: spec.finalizers are written through finalize only and hold the deletion, which is a phase.
import { type KubeObject, type ObjectMeta, checkQualifiedName, invalidValue } from '../../apimachinery/index.ts';
import type { Column, Propagation } from '../../registry/index.ts';
import { textColumn, withNameAndAge } from '../common/columns/columns.ts';
import { ensureStruct, setZero } from '../common/defaults.ts';
import { textFields } from '../common/selectable-fields.ts';
import { copyMember } from '../common/status.ts';
import { status, withoutDeleteCollection } from '../common/subresources.ts';
import { type Errors, type Field, checkText, each } from '../common/validation/check.ts';
import { readPath, toList, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

/** Columns of namespaces. */
const namespaceColumns: readonly Column[] = withNameAndAge(textColumn('Status', 'status', 'phase'));
const namespaceFields = textFields('status.phase');

/** Defaults of namespaces: phase, and the label that carries the name. */
function applyNamespaceDefaults(namespace: KubeObject): void {
  setZero(ensureStruct(namespace, 'status'), { phase: 'Active' });
  labelNamespace(namespace);
}

/** Puts the name into the label that selectors of namespaces rely on. */
function labelNamespace(namespace: KubeObject): void {
  const { name } = namespace.metadata;
  if (name) namespace.metadata.labels = { ...namespace.metadata.labels, 'kubernetes.io/metadata.name': name };
}

const NAMESPACE_FINALIZER = 'kubernetes';

function prepareNamespace(namespace: KubeObject): void {
  labelNamespace(namespace);
  namespace['status'] = { phase: 'Active' };
  const spec = ensureStruct(namespace, 'spec');
  const finalizers = toList(spec['finalizers']);
  if (!finalizers.includes(NAMESPACE_FINALIZER)) spec['finalizers'] = [...finalizers, NAMESPACE_FINALIZER];
}

const standardFinalizers = ['kubernetes', 'foregroundDeletion', 'orphan'];

function checkFinalizers(list: Field, pathOf: (finalizer: Field) => string): Errors {
  return each(list).flatMap((finalizer): Errors => {
    const [path, text] = [pathOf(finalizer), toText(finalizer.value)];
    const isKnown = text.includes('/') || standardFinalizers.includes(text);
    const problem = 'name is neither a standard finalizer name nor is it fully qualified';
    return [...checkText({ path, value: text }, checkQualifiedName), ...(isKnown ? [] : [invalidValue(path, text, problem)])];
  });
}

const finalizersOf = (namespace: KubeObject): Field => ({ path: 'spec.finalizers', value: readPath(namespace, 'spec', 'finalizers') });

/** Validates the finalizers of a new namespace; these errors have no index. */
function validateNamespace(namespace: KubeObject): Errors {
  return checkFinalizers(finalizersOf(namespace), () => 'spec.finalizers');
}

/** Validates the finalizers that the finalize path writes. */
function validateNamespaceFinalizers(namespace: KubeObject): Errors {
  return checkFinalizers(finalizersOf(namespace), ({ path }) => path);
}

/** Validates the phase: Terminating exactly when the namespace is deleted. */
function validateNamespaceStatus(object: KubeObject): Errors {
  const phase = toText(readPath(object, 'status', 'phase')) || 'Active';
  const isEnding = object.metadata.deletionTimestamp !== undefined;
  if (phase === (isEnding ? 'Terminating' : 'Active')) return [];
  const text = isEnding ? "may only be 'Terminating' if `deletionTimestamp` is not empty" : "may only be 'Active' if `deletionTimestamp` is empty";
  return [invalidValue('status.Phase', phase, text)];
}

/** Sets the finalizers with which a namespace waits for the garbage collector; unlike other kinds it keeps both, and is held where none are orphaned. */
function awaitCollector(meta: ObjectMeta, { orphanDependents, propagationPolicy }: Propagation): void {
  const old = meta.finalizers ?? [];
  const wants = (finalizer: string, policy: string, orphans: boolean): boolean => {
    if (orphanDependents !== undefined) return orphanDependents === orphans;
    return propagationPolicy === undefined ? old.includes(finalizer) : propagationPolicy === policy;
  };
  let finalizers = old;
  for (const [finalizer, isWanted] of [['orphan', wants('orphan', 'Orphan', true)],
    ['foregroundDeletion', wants('foregroundDeletion', 'Foreground', false)]] as const) {
    if (finalizers.includes(finalizer) === isWanted) continue;
    finalizers = isWanted ? [...finalizers, finalizer] : finalizers.filter((each) => each !== finalizer);
  }
  if (finalizers !== old) meta.finalizers = finalizers;
}

/** The spec of Namespace. */
export const namespaceKind: KindSpec = {
  kind: 'Namespace', plural: 'namespaces', shortNames: ['ns'], cluster: true,
  verbs: withoutDeleteCollection, nameRule: 'dns-label',
  returnsDeleted: true,
  subresources: [{ name: 'finalize', verbs: ['update'] }, status],
  selectableFields: namespaceFields,
  columns: namespaceColumns,
  applyDefaults: applyNamespaceDefaults,
  strategy: {
    prepareForCreate: prepareNamespace,
    prepareForUpdate(namespace, old, { subresource }) {
      if (subresource !== 'finalize') copyMember(namespace, old, 'spec');
    },
    terminate(namespace, options) {
      namespace['status'] = { ...ensureStruct(namespace, 'status'), phase: 'Terminating' };
      awaitCollector(namespace.metadata, options);
    },
    holdsDeletion: (namespace) => toList(readPath(namespace, 'spec', 'finalizers')).length > 0,
  },
  validation: {
    object: validateNamespace, update: () => [], status: validateNamespaceStatus, subresources: { finalize: validateNamespaceFinalizers },
  },
};
