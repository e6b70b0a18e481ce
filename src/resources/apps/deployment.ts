// apps/v1 Deployment: a change of annotations counts as a new generation, and a status update keeps the labels.
import { type FieldError, type KubeObject, equalJson, forbiddenField, invalidValue, notSupported, quoteGo } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../common/columns/columns.ts';
import { formatDeploymentSelector } from '../common/columns/selector.ts';
import { countColumn, formatReady, templateContainers } from '../common/columns/workloads.ts';
import { ensureStruct, setAbsent, setZero } from '../common/defaults.ts';
import { prepareWithStatus } from '../common/status.ts';
import { scale, scalePaths, status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkNotNegative, specOf } from '../common/validation/check.ts';
import { checkCountOrPercent, checkCounts, checkShare } from '../common/validation/counts.ts';
import { readPath, toNumber, toText } from '../common/values.ts';
import { applyTemplateDefaults } from '../core/pods/defaults/pod.ts';
import { gatePodSpec } from '../core/pods/gated-fields.ts';
import { warnOfTemplate } from '../core/pods/template.ts';
import type { KindSpec } from '../kind-spec.ts';
import { formerDeployments } from './former-versions.ts';
import { blankWorkload, checkSelectedTemplate, isZero, showStrategy, withImmutableSelector } from './workloads.ts';

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
  setRollback(deployment, rollbackOf(deployment));
  applyTemplateDefaults(spec, before?.['spec']);
  setAbsent(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const strategy = ensureStruct(spec, 'strategy');
  setZero(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate') setAbsent(ensureStruct(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
}

/** The revision that the deployment is to go back to, which older versions have a field for. */
const ROLLBACK_KEY = 'deprecated.deployment.rollback.to';

const MAX_INT64 = 2n ** 63n - 1n;

/** The revision as the reference reads it; a text why it cannot. */
function readRollback(text: string): bigint | string {
  const why = (problem: string): string => `failed to parse annotation[${ROLLBACK_KEY}]=${text} as int64: strconv.ParseInt: parsing ${quoteGo(text)}: ${problem}`;
  if (!/^[-+]?\d+$/.test(text)) return why('invalid syntax');
  const digits = text.replace(/^[-+]?0*(?=\d)/, '');
  const revision = BigInt(digits.length > 20 ? digits.slice(0, 20) : digits) * (text.startsWith('-') ? -1n : 1n);
  return revision > MAX_INT64 || revision < -MAX_INT64 - 1n ? why('value out of range') : revision;
}

const rollbackOf = ({ metadata }: KubeObject): string => metadata.annotations?.[ROLLBACK_KEY] ?? '';

/** Why the revision of a rollback cannot be read. */
function findUnreadableRollback(deployment: KubeObject): string | undefined {
  const text = rollbackOf(deployment);
  const read = text === '' ? undefined : readRollback(text);
  return typeof read === 'string' ? read : undefined;
}

/** Sets the revision of a rollback as the reference writes it, which has a number; without one there is no annotation. */
function setRollback({ metadata }: KubeObject, text: string): void {
  const before = metadata.annotations?.[ROLLBACK_KEY];
  const revision = text === '' ? undefined : readRollback(text);
  const shown = revision?.toString();
  if (shown === before || typeof revision === 'string') return;
  const { [ROLLBACK_KEY]: _, ...others } = metadata.annotations ?? {};
  const annotations = shown === undefined ? others : { ...others, [ROLLBACK_KEY]: shown };
  if (Object.keys(annotations).length > 0) metadata.annotations = annotations;
  else delete metadata.annotations;
}

function checkRollback(deployment: KubeObject): Errors {
  const text = rollbackOf(deployment);
  const revision = text === '' ? 0n : readRollback(text);
  const isBelow = typeof revision === 'bigint' && revision < 0n;
  return isBelow ? [invalidValue('spec.rollback.version', revision, 'must be greater than or equal to 0')] : [];
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

function checkDeploymentSpec(spec: Field, rollback: Errors): Errors {
  const errors: FieldError[] = [
    ...checkNotNegative(at(spec, 'replicas')), ...checkSelectedTemplate(spec), ...checkDeploymentStrategy(at(spec, 'strategy')),
  ];
  errors.push(...checkNotNegative(at(spec, 'minReadySeconds'), at(spec, 'revisionHistoryLimit')), ...rollback);
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
  return checkDeploymentSpec(specOf(deployment), checkRollback(deployment));
}

/** Validates updates of deployments. */
const validateDeploymentUpdate = withImmutableSelector(validateDeployment);

/** The spec of Deployment. */
export const deploymentKind: KindSpec = {
  kind: 'Deployment', plural: 'deployments', shortNames: ['deploy'], categories: ['all'],
  formerVersions: formerDeployments,
  tracksGeneration: true, blank: blankWorkload,
  subresources: [scale, status], scale: scalePaths,
  metadataChecks: ['update', 'kind'],
  findUnreadable: findUnreadableRollback, fieldAnnotations: [ROLLBACK_KEY],
  resetFields: { status: [['spec'], ['metadata', 'labels']] },
  columns: deploymentColumns,
  ...gatePodSpec('spec.template.spec'),
  applyDefaults: applyDeploymentDefaults,
  strategy: prepareWithStatus({
    keeps: ['labels'], prepareForUpdate: countAnnotations, prepareForStatus: (deployment, old) => setRollback(deployment, rollbackOf(old)),
  }),
  validation: { object: validateDeployment, update: validateDeploymentUpdate, status: validateDeploymentStatus },
  warnings: warnOfTemplate({ path: ['spec', 'template'], names: true }),
};
