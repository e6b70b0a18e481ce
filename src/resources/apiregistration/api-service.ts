// apiregistration.k8s.io/v1 APIService: the name states the group version; a service without reference is available at once.
import { trimEnd } from '../../base/index.ts';
import {
  type FieldError, type KubeObject, checkDns1035Label, checkDnsSubdomain, checkPathSegment, invalidValue, notSupported, required,
} from '../../apimachinery/index.ts';
import { type Column, formatTime } from '../../registry/index.ts';
import { column, readCondition, withNameAndAge } from '../common/columns/columns.ts';
import { applyServicePort, readPointer } from '../common/defaults.ts';
import { sameAs } from '../common/former-versions.ts';
import { allUserMetadata, prepareWithStatus, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkRequired, checkText, each } from '../common/validation/check.ts';
import { checkPortNumber } from '../common/validation/ports.ts';
import { readPath, toNumber, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

function formatService(object: KubeObject): string {
  const service = readPath(object, 'spec', 'service');
  return service === undefined || service === null ? 'Local' : `${toText(readPath(service, 'namespace'))}/${toText(readPath(service, 'name'))}`;
}

function formatAvailable(object: KubeObject): string {
  const available = readCondition(object, 'Available');
  if (available === undefined) return 'Unknown';
  const status = toText(available['status']);
  const reason = toText(available['reason']);
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}

/** Columns of apiservices. */
const apiServiceColumns: readonly Column[] = withNameAndAge(column('Service', formatService), column('Available', formatAvailable));

/** Defaults of apiservices. */
function applyApiServiceDefaults(apiService: KubeObject): void {
  applyServicePort(readPointer(apiService, 'spec'));
}

const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1000;

function checkPriority({ path, value }: Field, most: number): Errors {
  const priority = toNumber(value ?? 0);
  return priority <= 0 || priority > most ? [invalidValue(path, priority, `must be positive and less than ${most}`)] : [];
}

/** The name is that of the group version, and so is what it is generated from. */
function checkName({ metadata, spec }: KubeObject): Errors {
  const wanted = `${toText(readPath(spec, 'version'))}.${toText(readPath(spec, 'group'))}`;
  const check = (field: 'generateName' | 'name', name: string): Errors => (name === '' || name === wanted || checkPathSegment(name).length > 0 ? []
    : [invalidValue(`metadata.${field}`, name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`)]);
  const { generateName = '', name = '' } = metadata;
  // All kinds have their prefixes checked.
  const whole = checkPathSegment(generateName, true).length > 0 ? [] : checkPathSegment(generateName);
  return [...whole.map((why) => invalidValue('metadata.generateName', generateName, why)), ...check('generateName', generateName), ...check('name', name)];
}

/** Members that only a group version with a service may have. */
function checkLocal(spec: Field): Errors {
  const bundle = toText(readPath(spec.value, 'caBundle'));
  const bytes = Math.floor((trimEnd(bundle, '=').length * 3) / 4);
  const errors: FieldError[] = bytes > 0 ? [invalidValue('spec.caBundle', `${bytes} bytes`, 'local APIServices may not have a caBundle')] : [];
  const isInsecure = readPath(spec.value, 'insecureSkipTLSVerify') === true;
  return isInsecure ? [...errors, invalidValue('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify')] : errors;
}

function checkService(spec: Field): Errors {
  const service = at(spec, 'service');
  const port = at(service, 'port');
  const isMixed = readPath(spec.value, 'insecureSkipTLSVerify') === true && toText(readPath(spec.value, 'caBundle')) !== '';
  return [
    ...checkRequired(at(service, 'namespace')), ...checkRequired(at(service, 'name')),
    ...checkPortNumber(port).map(() => invalidValue(port.path, port.value ?? 0, 'port is not valid: must be between 1 and 65535, inclusive')),
    ...(isMixed ? [invalidValue('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')] : []),
  ];
}

/** Validates apiservices. */
function validateApiService(apiService: KubeObject): Errors {
  const spec: Field = { path: 'spec', value: apiService['spec'] };
  const group = at(spec, 'group');
  const version = at(spec, 'version');
  const isNameless = toText(group.value) === '';
  const service = readPath(spec.value, 'service');
  return [
    ...(isNameless && version.value !== 'v1' ? [required(group.path, 'only v1 may have an empty group and it better be legacy kube')] : []),
    ...(isNameless ? [] : checkText(group, checkDnsSubdomain)), ...checkText(version, checkDns1035Label),
    ...checkPriority(at(spec, 'groupPriorityMinimum'), MAX_GROUP_PRIORITY), ...checkPriority(at(spec, 'versionPriority'), MAX_VERSION_PRIORITY),
    ...(service === undefined || service === null ? checkLocal(spec) : checkService(spec)),
  ];
}

/** Validates what the status path of apiservices writes. */
function validateApiServiceStatus(apiService: KubeObject): Errors {
  const states = ['True', 'False', 'Unknown'];
  return each(at({ path: 'status', value: apiService['status'] }, 'conditions')).map((condition) => at(condition, 'status'))
    .filter(({ value }) => !states.includes(toText(value))).map(({ path, value }) => notSupported(path, value ?? '', states, true));
}

/** The spec of APIService. */
export const apiServiceKind: KindSpec = {
  kind: 'APIService', plural: 'apiservices', categories: ['api-extensions'], cluster: true,
  formerVersions: sameAs('apiregistration.k8s.io/v1beta1'),
  nameRule: 'path-segment', storagePrefix: 'apiregistration.k8s.io/apiservices',
  unconditionalUpdate: false,
  subresources: [status],
  metadataChecks: ['lenient-object', 'kind', 'lenient-update'],
  resetFields: statusOnlyResets,
  columns: apiServiceColumns,
  applyDefaults: applyApiServiceDefaults,
  strategy: { validateName: checkName, ...prepareWithStatus({
    keeps: allUserMetadata,
    prepareForCreate(apiService, { nowMs }) {
      if (readPath(apiService, 'spec', 'service') !== undefined) return;
      const condition = {
        type: 'Available', status: 'True', lastTransitionTime: formatTime(nowMs), reason: 'Local', message: 'Local APIServices are always available',
      };
      apiService['status'] = { conditions: [condition] };
    },
  }) },
  validation: { object: validateApiService, status: validateApiServiceStatus },
};
