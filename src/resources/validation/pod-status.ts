// Validation of what kubelets and schedulers say of a pod.
import { type KubeObject, checkDnsSubdomain, checkQualifiedName, invalidValue, parseIpAddress } from '../../apimachinery/index.ts';
import { readPath, toText } from '../columns/common.ts';
import { type Errors, type Place, at, checkText, each } from './check.ts';

const ipProblem = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

function checkAddresses(list: Place): Errors {
  return each(list).flatMap((entry) => {
    const ip = toText(readPath(entry.value, 'ip'));
    return parseIpAddress(ip) === undefined ? [invalidValue(entry.path, ip, ipProblem)] : [];
  });
}

/** Validates what the status path of pods writes. */
export function validatePodStatus(pod: KubeObject): Errors {
  const status: Place = { path: 'status', value: pod['status'] };
  const node = at(status, 'nominatedNodeName');
  return [
    ...(toText(node.value) === '' ? [] : checkText(node, checkDnsSubdomain)),
    ...checkAddresses(at(status, 'podIPs')), ...checkAddresses(at(status, 'hostIPs')),
    ...each(at(status, 'conditions')).flatMap((condition) =>
      checkText({ path: `${condition.path}.Type`, value: readPath(condition.value, 'type') }, checkQualifiedName)),
  ];
}
