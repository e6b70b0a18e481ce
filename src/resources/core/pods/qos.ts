// The quality of service class of a pod, which follows from the requests and limits of its containers.
import { type JsonObject, compareQuantities, parseQuantity } from '../../../apimachinery/index.ts';
import { readPath, toObject, toObjects, toText } from '../../common/values.ts';

const qosResources = ['cpu', 'memory'];

/** A quantity that counts for the class of service; zero does not. */
function readPositive(resources: JsonObject | undefined, name: string): string {
  const text = toText(resources?.[name]);
  return /[1-9]/.test(text) ? text : '';
}

/** Whether two quantities are one amount; `1000Mi` and `1048576000` are. */
const isSame = (a: string, b: string): boolean => a === b || (a !== '' && compareQuantities(parseQuantity(a), parseQuantity(b)) === 0);

/** `Guaranteed` when all limits are set and requested in full, `BestEffort` when nothing is requested, else `Burstable`. */
export function computeQosClass(spec: JsonObject): string {
  const holders = (spec['resources'] ?? null) !== null ? [spec] : [...toObjects(spec['containers']), ...toObjects(spec['initContainers'])];
  let asksNothing = true;
  let isGuaranteed = true;
  for (const holder of holders) {
    const limits = toObject(readPath(holder, 'resources', 'limits'));
    const requests = toObject(readPath(holder, 'resources', 'requests'));
    for (const name of qosResources) {
      const limit = readPositive(limits, name);
      const request = readPositive(requests, name);
      if (limit !== '' || request !== '') asksNothing = false;
      if (limit === '' || !isSame(request, limit)) isGuaranteed = false;
    }
  }
  if (asksNothing) return 'BestEffort';
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}
