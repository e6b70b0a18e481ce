// flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration.
import { type FieldError, type KubeObject, equalJson, forbiddenField, invalidValue, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, textColumn, withNameAndAge } from '../common/columns/columns.ts';
import { ensureStruct, readPointer, setAbsent, setZero } from '../common/defaults.ts';
import { keepUserMetadata, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkOneOf, isEmptyText, isGiven, memberOf } from '../common/validation/check.ts';
import { type Cell, readPath, toNumber } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { checkConditions, validateFlowControlStatus } from './conditions.ts';
import { PRESERVE_ZERO, formerPriorityLevels } from './former-versions.ts';
import { showSpec } from './structs.ts';

function limitColumn(name: string, ...path: readonly string[]): Column {
  return column(name, (object): Cell => {
    const value = readPath(object, 'spec', 'limited', ...path);
    return value === undefined ? '<none>' : toNumber(value);
  });
}

/** Columns of prioritylevelconfigurations. */
const priorityLevelColumns: readonly Column[] = withNameAndAge(
  textColumn('Type', 'spec', 'type'),
  limitColumn('NominalConcurrencyShares', 'nominalConcurrencyShares'),
  limitColumn('Queues', 'limitResponse', 'queuing', 'queues'),
  limitColumn('HandSize', 'limitResponse', 'queuing', 'handSize'),
  limitColumn('QueueLengthLimit', 'limitResponse', 'queuing', 'queueLengthLimit'),
);

/** Defaults of prioritylevelconfigurations. */
function applyPriorityLevelDefaults(level: KubeObject): void {
  const spec = ensureStruct(level, 'spec');
  const limited = readPointer(spec, 'limited');
  if (limited !== undefined) setAbsent(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 });
  const queuing = readPointer(readPointer(limited, 'limitResponse'), 'queuing');
  if (queuing !== undefined) setZero(queuing, { queues: 64, handSize: 8, queueLengthLimit: 50 });
  const exempt = readPointer(spec, 'exempt');
  if (exempt !== undefined) setAbsent(exempt, { nominalConcurrencyShares: 0, lendablePercent: 0 });
}

const MAX_QUEUES = 10_000_000;

/** Bits of the hash that shuffle sharding uses. */
const MAX_HASH_BITS = 60;

function checkPercent({ path, value }: Field): Errors {
  return value !== undefined && !(toNumber(value) >= 0 && toNumber(value) <= 100) ? [invalidValue(path, value, 'must be between 0 and 100, inclusive')] : [];
}

function checkShares({ path, value }: Field): Errors {
  return toNumber(value ?? 0) < 0 ? [invalidValue(path, value, 'must be a non-negative integer')] : [];
}

/** The entropy bits that a hand of queues takes. */
function countBits(queues: number, handSize: number): number {
  let bits = 0;
  for (let dealt = 0; dealt < handSize && bits <= MAX_HASH_BITS; dealt++) bits += Math.log2(queues - dealt);
  return Math.ceil(bits);
}

function checkHand({ path, value }: Field, queues: number): Errors {
  const size = toNumber(value ?? 0);
  if (size <= 0) return [invalidValue(path, size, 'must be positive')];
  if (size > queues) return [invalidValue(path, size, `should not be greater than queues (${queues})`)];
  const tooRandom = `required entropy bits of deckSize ${queues} and handSize ${size} should not be greater than ${MAX_HASH_BITS}`;
  return countBits(queues, size) > MAX_HASH_BITS ? [invalidValue(path, size, tooRandom)] : [];
}

function checkQueuing(queuing: Field): Errors {
  const length = at(queuing, 'queueLengthLimit');
  const queues = at(queuing, 'queues');
  const count = toNumber(queues.value ?? 0);
  const errors: FieldError[] = toNumber(length.value ?? 0) <= 0 ? [invalidValue(length.path, length.value ?? 0, 'must be positive')] : [];
  if (count <= 0) errors.push(invalidValue(queues.path, count, 'must be positive'));
  else if (count > MAX_QUEUES) errors.push(invalidValue(queues.path, count, `must not be greater than ${MAX_QUEUES}`));
  return [...errors, ...checkHand(at(queuing, 'handSize'), count)];
}

function checkLimitResponse(response: Field): Errors {
  const queuing = at(response, 'queuing');
  const type = at(response, 'type');
  if (type.value === 'Reject') {
    return isGiven(queuing) ? [forbiddenField(queuing.path, 'must be nil if limited.limitResponse.type is not Limited')] : [];
  }
  if (isEmptyText(type)) return [required(type.path)];
  if (type.value !== 'Queue') return checkOneOf(type, ['Queue', 'Reject']);
  return isGiven(queuing) ? checkQueuing(queuing) : [required(queuing.path, 'must not be empty if limited.limitResponse.type is Limited')];
}

function checkLimited(limited: Field): Errors {
  const borrowing = at(limited, 'borrowingLimitPercent');
  return [
    ...checkShares(at(limited, 'nominalConcurrencyShares')), ...checkLimitResponse(at(limited, 'limitResponse')),
    ...checkPercent(at(limited, 'lendablePercent')),
    ...(toNumber(borrowing.value ?? 0) < 0 ? [invalidValue(borrowing.path, borrowing.value, 'if specified, must be a non-negative integer')] : []),
  ];
}

function checkLevelType(spec: Field): Errors {
  const exempt = at(spec, 'exempt');
  const limited = at(spec, 'limited');
  const type = at(spec, 'type');
  if (type.value === 'Exempt') {
    return [
      ...(isGiven(limited) ? [forbiddenField(limited.path, 'must be nil if the type is not Limited')] : []),
      ...(isGiven(exempt) ? [...checkShares(at(exempt, 'nominalConcurrencyShares')), ...checkPercent(at(exempt, 'lendablePercent'))] : []),
    ];
  }
  if (isEmptyText(type)) return [required(type.path)];
  if (type.value !== 'Limited') return checkOneOf(type, ['Exempt', 'Limited']);
  return [
    ...(isGiven(exempt) ? [forbiddenField(exempt.path, 'must be nil if the type is Limited')] : []),
    ...(isGiven(limited) ? checkLimited(limited) : [required(limited.path, 'must not be empty when type is Limited')]),
  ];
}

const catchAllLevel = { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 } };

function checkMandatoryLevel(name: string, spec: Field): Errors {
  const refuse = (text: string): Errors => [invalidValue('spec', showSpec('PriorityLevelConfigurationSpec', spec.value), `spec of '${name}' ${text}`)];
  if (name === 'catch-all' && !equalJson(spec.value, catchAllLevel)) return refuse('must equal the fixed value');
  if (name !== 'exempt' || (readPath(spec.value, 'type') === 'Exempt' && !isGiven(at(spec, 'limited')))) return [];
  return refuse("except the 'spec.exempt' field must equal the fixed value");
}

function checkLevelAnnotations({ metadata: { annotations = {} } }: KubeObject): Errors {
  return Object.hasOwn(annotations, PRESERVE_ZERO) ? [forbiddenField('metadata.annotations', `annotation '${PRESERVE_ZERO}' is forbidden`)] : [];
}

/** Validates prioritylevelconfigurations. */
function validatePriorityLevel(level: KubeObject): Errors {
  const spec = memberOf(level, 'spec');
  const name = level.metadata.name ?? '';
  const type = at(spec, 'type');
  const isMismatch = (name === 'exempt') !== (type.value === 'Exempt');
  return [
    ...checkLevelAnnotations(level), ...(isMismatch ? [invalidValue(type.path, type.value ?? '', "must be 'Exempt' if and only if `name` is 'exempt'")] : []),
    ...checkLevelType(spec), ...checkMandatoryLevel(name, spec), ...checkConditions(level),
  ];
}

/** The spec of PriorityLevelConfiguration. */
export const priorityLevelConfigurationKind: KindSpec = {
  kind: 'PriorityLevelConfiguration', plural: 'prioritylevelconfigurations', cluster: true,
  formerVersions: formerPriorityLevels,
  tracksGeneration: true,
  subresources: [status],
  metadataChecks: ['object', 'kind'],
  resetFields: statusOnlyResets,
  columns: priorityLevelColumns,
  applyDefaults: applyPriorityLevelDefaults,
  strategy: keepUserMetadata,
  validation: { object: validatePriorityLevel, status: validateFlowControlStatus },
};
