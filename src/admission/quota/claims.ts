// What a PersistentVolumeClaim counts for in a quota: itself and the storage that it requests, in all and by its storage class.
import { type KubeObject, type Quantity, addQuantities, compareQuantities, parseQuantity } from '../../apimachinery/index.ts';
import { oneAmount } from './amounts.ts';
import type { Evaluator, ScopeSelector } from './evaluator.ts';
import { matchesValues } from './scopes.ts';

interface ClaimSpec {
  readonly storageClassName?: string;
  readonly volumeAttributesClassName?: string;
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

interface ClaimStatus {
  readonly allocatedResources?: { readonly storage?: string };
  readonly currentVolumeAttributesClassName?: string;
  readonly modifyVolumeStatus?: { readonly targetVolumeAttributesClassName?: string };
}

const COUNT = 'count/persistentvolumeclaims';
const names: readonly string[] = ['persistentvolumeclaims', 'requests.storage'];
const CLASS_SUFFIX = '.storageclass.storage.k8s.io/';
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

const specOf = (claim: KubeObject): ClaimSpec => (claim['spec'] ?? {}) as ClaimSpec;
const statusOf = (claim: KubeObject): ClaimStatus => (claim['status'] ?? {}) as ClaimStatus;
const classOf = (claim: KubeObject): string => claim.metadata.annotations?.[CLASS_ANNOTATION] ?? specOf(claim).storageClassName ?? '';

/** Storage is counted in whole bytes. */
function roundUp(quantity: Quantity): Quantity {
  if (quantity.exponent >= 0) return quantity;
  const unit = 10n ** BigInt(-quantity.exponent);
  const whole = quantity.mantissa / unit;
  const rounded = { ...quantity, mantissa: whole, exponent: 0 };
  return quantity.mantissa % unit > 0n ? addQuantities(rounded, parseQuantity('1')) : rounded;
}

/** What a claim requests, or what is allocated to it where an expansion that failed left more. */
function storageOf(claim: KubeObject): Quantity | undefined {
  const requested = specOf(claim).resources?.requests?.storage;
  if (requested === undefined) return undefined;
  const [wanted, allocated] = [roundUp(parseQuantity(String(requested))), statusOf(claim).allocatedResources?.storage];
  if (allocated === undefined) return wanted;
  const held = roundUp(parseQuantity(String(allocated)));
  return compareQuantities(held, wanted) > 0 ? held : wanted;
}

function attributesClassesOf(claim: KubeObject): string[] {
  const { currentVolumeAttributesClassName: current, modifyVolumeStatus } = statusOf(claim);
  return [specOf(claim).volumeAttributesClassName ?? '', current ?? '', modifyVolumeStatus?.targetVolumeAttributesClassName ?? ''];
}

/** The evaluator of claims. */
export const claimEvaluator: Evaluator = {
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === '') return operation === 'CREATE' || operation === 'UPDATE';
    if (subresource !== 'status' || object === undefined || oldObject === undefined) return false;
    const allocated = (claim: KubeObject): string => String(statusOf(claim).allocatedResources?.storage);
    return allocated(object) !== allocated(oldObject) || attributesClassesOf(object).join() !== attributesClassesOf(oldObject).join();
  },
  matches: (name) => name === COUNT || names.includes(name) || names.some((one) => name.endsWith(`${CLASS_SUFFIX}${one}`)),
  matchesScope: (selector: ScopeSelector, claim) =>
    selector.scopeName === 'VolumeAttributesClass' && matchesValues(selector, attributesClassesOf(claim)),
  check: () => undefined,
  usage(claim) {
    const [storageClass, storage] = [classOf(claim), storageOf(claim)];
    const usage = new Map([[COUNT, oneAmount], ['persistentvolumeclaims', oneAmount]]);
    if (storage !== undefined) usage.set('requests.storage', storage);
    if (storageClass === '') return usage;
    usage.set(`${storageClass}${CLASS_SUFFIX}persistentvolumeclaims`, oneAmount);
    return storage === undefined ? usage : usage.set(`${storageClass}${CLASS_SUFFIX}requests.storage`, storage);
  },
};
