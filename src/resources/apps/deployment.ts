// apps/v1 Deployment: a change of annotations counts as a new generation, and a status update keeps the labels.
import { type FieldError, type KubeObject, equalJson, forbiddenField, invalidValue, notSupported } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../common/columns/columns.ts';
import { formatDeploymentSelector } from '../common/columns/selector.ts';
import { countColumn, formatReady, templateContainers } from '../common/columns/workloads.ts';
import { ensureStruct, setAbsent, setZero } from '../common/defaults.ts';
import { prepareWithStatus } from '../common/status.ts';
import { scale, scalePaths, status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkNotNegative, specOf } from '../common/validation/check.ts';
import { checkCountOrPercent, checkShare } from '../common/validation/counts.ts';
import { readPath, toNumber, toText } from '../common/values.ts';
import { applyTemplateDefaults } from '../core/pods/defaults/pod.ts';
import { gatedPodFields } from '../core/pods/gated-fields.ts';
import { warnOfTemplate } from '../core/pods/template.ts';
import type { KindSpec } from '../kind-spec.ts';
import { blankWorkload, checkCounts, checkSelectedTemplate, isZero, showStrategy, withImmutableSelector } from './workloads.ts';

/** Columns of deployments. */
const deploymentColumns: readonly Column[] = [
  nameColumn,
  column('Ready', formatReady),
  countColumn('Up-to-date', 'status', 'updatedReplicas'),
  countColumn('Available', 'status', 'availableReplicas'),
  ageColumn,
  ...templateContainers,
  wideColumn('Selector', (object) => formatDeploymentSelector(readPath(object, 'spec', 'selector'))),
];

/** Defaults of deployments. */
function applyDeploymentDefaults(deployment: KubeObject, _version?: string, before?: KubeObject): void {
  const spec = ensureStruct(deployment, 'spec');
  applyTemplateDefaults(spec, before?.['spec']);
  setAbsent(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const strategy = ensureStruct(spec, 'strategy');
  setZero(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate') setAbsent(ensureStruct(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
}

/** A change of annotations raises the generation too, so that controllers notice it. */
function countAnnotations(deployment: KubeObject, old: KubeObject): void {
  if (equalJson(deployment.metadata.annotations ?? {}, old.metadata.annotations ?? {})) return;
  deployment.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

/** Status of a Deployment. */
function validateDeploymentStatus(object: KubeObject): Errors {
  return checkCounts(object, {
    counts: [
      'observedGeneration', 'replicas', 'updatedReplicas', 'terminatingReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas',
      'collisionCount',
    ],
    parts: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  });
}

function checkDeploymentStrategy(strategy: Field): Errors {
  const type = toText(readPath(strategy.value, 'type'));
  const rolling = at(strategy, 'rollingUpdate');
  if (type === 'Recreate') {
    return rolling.value === undefined ? [] : [forbiddenField(rolling.path, "may not be specified when strategy `type` is 'Recreate'")];
  }
  if (type !== 'RollingUpdate') return [notSupported(strategy.path, showStrategy(strategy), ['Recreate', 'RollingUpdate'])];
  const unavailable = at(rolling, 'maxUnavailable');
  const surge = at(rolling, 'maxSurge');
  const errors: FieldError[] = [...checkCountOrPercent(unavailable, false), ...checkCountOrPercent(surge, false)];
  if (isZero(unavailable.value) && isZero(surge.value)) errors.push(invalidValue(unavailable.path, unavailable.value, 'may not be 0 when `maxSurge` is 0'));
  return [...errors, ...checkShare(unavailable)];
}

function checkDeploymentSpec(spec: Field): Errors {
  const errors: FieldError[] = [
    ...checkNotNegative(at(spec, 'replicas')), ...checkSelectedTemplate(spec), ...checkDeploymentStrategy(at(spec, 'strategy')),
  ];
  errors.push(...checkNotNegative(at(spec, 'minReadySeconds'), at(spec, 'revisionHistoryLimit')));
  const deadline = at(spec, 'progressDeadlineSeconds');
  if (deadline.value === undefined) return errors;
  errors.push(...checkNotNegative(deadline));
  if (toNumber(deadline.value) <= toNumber(readPath(spec.value, 'minReadySeconds'))) {
    errors.push(invalidValue(deadline.path, deadline.value, 'must be greater than minReadySeconds'));
  }
  return errors;
}

/** Validates deployments. */
function validateDeployment(deployment: KubeObject): Errors {
  return checkDeploymentSpec(specOf(deployment));
}

/** Validates updates of deployments. */
const validateDeploymentUpdate = withImmutableSelector(validateDeployment);

/** The spec of Deployment. */
export const deploymentKind: KindSpec = {
  kind: 'Deployment', plural: 'deployments', shortNames: ['deploy'], categories: ['all'],
  tracksGeneration: true, blank: blankWorkload,
  subresources: [scale, status], scale: scalePaths,
  metadataChecks: ['update', 'kind'],
  resetFields: { status: [['spec'], ['metadata', 'labels']] },
  columns: deploymentColumns,
  gatedFields: gatedPodFields('spec.template.spec'),
  applyDefaults: applyDeploymentDefaults,
  strategy: prepareWithStatus({ keeps: ['labels'], prepareForUpdate: countAnnotations }),
  validation: { object: validateDeployment, update: validateDeploymentUpdate, status: validateDeploymentStatus },
  warnings: warnOfTemplate({ path: ['spec', 'template'], names: true }),
};
