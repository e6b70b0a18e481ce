// Validation of apiservices: a name that says which group version, priorities in range, and a service that can be meant.
import {
  type FieldError, type KubeObject, checkDns1035Label, checkDnsSubdomain, checkPathSegment, invalidValue, notSupported, required,
} from '../../apimachinery/index.ts';
import { readPath, toNumber, toText } from '../columns/common.ts';
import { type Errors, type Field, at, checkPortNumber, checkRequired, checkText, each } from './check.ts';

const maxGroupPriority = 20_000;
const maxVersionPriority = 1000;

function checkPriority({ path, value }: Field, most: number): Errors {
  const priority = toNumber(value ?? 0);
  return priority <= 0 || priority > most ? [invalidValue(path, priority, `must be positive and less than ${most}`)] : [];
}

function checkName(apiService: KubeObject, wanted: string): Errors {
  const { name = '' } = apiService.metadata;
  return name === wanted || checkPathSegment(name).length > 0 ? []
    : [invalidValue('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`)];
}

/** What only makes sense for a group version that a service answers. */
function checkLocal(spec: Field): Errors {
  const bundle = toText(readPath(spec.value, 'caBundle'));
  const bytes = Math.floor((bundle.replace(/=+$/, '').length * 3) / 4);
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
export function validateApiService(apiService: KubeObject): Errors {
  const spec: Field = { path: 'spec', value: apiService['spec'] };
  const group = at(spec, 'group');
  const version = at(spec, 'version');
  const isNameless = toText(group.value) === '';
  const service = readPath(spec.value, 'service');
  return [
    ...checkName(apiService, `${toText(version.value)}.${toText(group.value)}`),
    ...(isNameless && version.value !== 'v1' ? [required(group.path, 'only v1 may have an empty group and it better be legacy kube')] : []),
    ...(isNameless ? [] : checkText(group, checkDnsSubdomain)), ...checkText(version, checkDns1035Label),
    ...checkPriority(at(spec, 'groupPriorityMinimum'), maxGroupPriority), ...checkPriority(at(spec, 'versionPriority'), maxVersionPriority),
    ...(service === undefined || service === null ? checkLocal(spec) : checkService(spec)),
  ];
}

/** Validates what the status path of apiservices writes. */
export function validateApiServiceStatus(apiService: KubeObject): Errors {
  const states = ['True', 'False', 'Unknown'];
  return each(at({ path: 'status', value: apiService['status'] }, 'conditions')).map((condition) => at(condition, 'status'))
    .filter(({ value }) => !states.includes(toText(value))).map(({ path, value }) => notSupported(path, value ?? '', states, true));
}
