// apps/v1 DaemonSet: an annotation counts the changes of the template.
import { type FieldError, type KubeObject, equalJson, invalidValue, notSupported, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, formatLabels, integerColumn, nameColumn } from '../common/columns/columns.ts';
import { selectorColumn, templateContainers } from '../common/columns/workloads.ts';
import { ensureStruct, setAbsent, setZero } from '../common/defaults.ts';
import { prepareWithStatus } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkImmutable, checkNotNegative, isGiven, specOf, statusOf } from '../common/validation/check.ts';
import { checkCountOrPercent, checkShare } from '../common/validation/counts.ts';
import { checkSelector, isEmptySelector, isSelectable } from '../common/validation/selectors.ts';
import { readPath, toText } from '../common/values.ts';
import { applyTemplateDefaults } from '../core/pods/defaults/pod.ts';
import { gatePodSpec } from '../core/pods/gated-fields.ts';
import { checkTemplate, checkTemplateLabels, warnOfTemplate } from '../core/pods/template.ts';
import type { KindSpec } from '../kind-spec.ts';
import { formerDaemonSets } from './former-versions.ts';
import { isZero, showStrategy } from './workloads.ts';

/** Columns of daemonsets. */
const daemonSetColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Desired', 'status', 'desiredNumberScheduled'),
  integerColumn('Current', 'status', 'currentNumberScheduled'),
  integerColumn('Ready', 'status', 'numberReady'),
  integerColumn('Up-to-date', 'status', 'updatedNumberScheduled'),
  integerColumn('Available', 'status', 'numberAvailable'),
  column('Node Selector', (object) => formatLabels(readPath(object, 'spec', 'template', 'spec', 'nodeSelector'))),
  ageColumn,
  ...templateContainers,
  selectorColumn,
];
const TEMPLATE_GENERATION_KEY = 'deprecated.daemonset.template.generation';

/** The number of template changes that the annotation holds. */
function readTemplateGeneration(daemonSet: KubeObject): number {
  return Number.parseInt(daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_KEY] ?? '', 10) || 0;
}

/** Writes the number of template changes into the annotation. */
function setTemplateGeneration(daemonSet: KubeObject, generation: number): void {
  daemonSet.metadata.annotations = { ...daemonSet.metadata.annotations, [TEMPLATE_GENERATION_KEY]: String(generation) };
}

/** Defaults of daemonsets; the annotation is always written, so that the client that creates the object owns it. */
function applyDaemonSetDefaults(daemonSet: KubeObject, _version?: string, before?: KubeObject): void {
  setTemplateGeneration(daemonSet, readTemplateGeneration(daemonSet));
  const spec = ensureStruct(daemonSet, 'spec');
  applyTemplateDefaults(spec, before?.['spec']);
  setAbsent(spec, { revisionHistoryLimit: 10 });
  const strategy = ensureStruct(spec, 'updateStrategy');
  setZero(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate') setAbsent(ensureStruct(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
}

/** Status of a DaemonSet. */
function validateDaemonSetStatus(object: KubeObject): Errors {
  const counts = [
    'currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady', 'observedGeneration', 'updatedNumberScheduled',
    'numberAvailable', 'numberUnavailable', 'collisionCount',
  ];
  return checkNotNegative(...counts.map((name) => at(statusOf(object), name)));
}

/** Validates daemonsets. */
function validateDaemonSet(daemonSet: KubeObject): Errors {
  const spec = specOf(daemonSet);
  const selector = at(spec, 'selector');
  const labels = isSelectable(selector.value) ? checkTemplateLabels(spec, selector.value) : [];
  const errors: FieldError[] = [...checkSelector(selector), ...labels];
  if (isGiven(selector) && isEmptySelector(selector.value)) errors.push(invalidValue(selector.path, {}, 'empty selector is invalid for daemonset'));
  errors.push(...checkTemplate(spec, 'DaemonSet'), ...checkNotNegative(at(spec, 'minReadySeconds')), ...checkDaemonStrategy(at(spec, 'updateStrategy')));
  return [...errors, ...checkNotNegative(at(spec, 'revisionHistoryLimit'))];
}

function checkDaemonStrategy(strategy: Field): Errors {
  const type = toText(readPath(strategy.value, 'type'));
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') return [notSupported(strategy.path, showStrategy(strategy), ['RollingUpdate', 'OnDelete'], true)];
  const unavailable = at(strategy, 'rollingUpdate', 'maxUnavailable');
  const surge = at(strategy, 'rollingUpdate', 'maxSurge');
  const errors = [
    ...checkCountOrPercent(unavailable, false), ...checkCountOrPercent(surge, false), ...checkShare(unavailable), ...checkShare(surge),
  ];
  const [hasUnavailable, hasSurge] = [!isZero(unavailable.value ?? 0), !isZero(surge.value ?? 0)];
  if (hasUnavailable && hasSurge) return [...errors, invalidValue(surge.path, surge.value, 'may not be set when maxUnavailable is non-zero')];
  return hasUnavailable || hasSurge ? errors : [...errors, required(unavailable.path, 'cannot be 0 when maxSurge is 0')];
}

/** Validates updates of daemonsets. */
function validateDaemonSetUpdate(daemonSet: KubeObject, old: KubeObject): Errors {
  return [...checkImmutable(at(specOf(daemonSet), 'selector'), at(specOf(old), 'selector')), ...validateDaemonSet(daemonSet)];
}

/** The spec of DaemonSet. */
export const daemonSetKind: KindSpec = {
  kind: 'DaemonSet', plural: 'daemonsets', shortNames: ['ds'], categories: ['all'],
  formerVersions: formerDaemonSets,
  tracksGeneration: true, blank: { metadata: { annotations: { [TEMPLATE_GENERATION_KEY]: '0' } } },
  subresources: [status],
  metadataChecks: ['update', 'kind'],
  fieldAnnotations: [TEMPLATE_GENERATION_KEY],
  columns: daemonSetColumns,
  ...gatePodSpec('spec.template.spec'),
  applyDefaults: applyDaemonSetDefaults,
  strategy: prepareWithStatus({
    prepareForCreate: (daemonSet) => setTemplateGeneration(daemonSet, Math.max(1, readTemplateGeneration(daemonSet))),
    prepareForUpdate(daemonSet, old) {
      const changed = !equalJson(readPath(daemonSet, 'spec', 'template'), readPath(old, 'spec', 'template'));
      setTemplateGeneration(daemonSet, readTemplateGeneration(old) + (changed ? 1 : 0));
    },
    prepareForStatus: (daemonSet, old) => setTemplateGeneration(daemonSet, readTemplateGeneration(old)),
  }),
  validation: { object: validateDaemonSet, update: validateDaemonSetUpdate, status: validateDaemonSetStatus },
  warnings: warnOfTemplate({ path: ['spec', 'template'], generationOf: readTemplateGeneration }),
};
