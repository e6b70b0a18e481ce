// certificates.k8s.io/v1beta1 PodCertificateRequest: a kubelet asks a signer for a certificate of a pod, and the signer answers once, in the status; off
// by default. Signatures are verified where there is cryptography, see signatures.ts; the right to sign is asked by admission.
import {
  type FieldError, type KubeObject, checkDnsSubdomain, equalJson, invalidUnshown, invalidValue, notSupported, notSupportedText, tooLong,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, formatLabels, nameColumn, readCondition, textColumn } from '../common/columns/columns.ts';
import { textFields } from '../common/selectable-fields.ts';
import { keepUserMetadata } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkText, each, isGiven, specOf, statusOf } from '../common/validation/check.ts';
import { checkConditions } from '../common/validation/conditions.ts';
import { readGoStructs, shapeGoStruct } from '../common/validation/go-structs.ts';
import { checkSignerName, checkUserAnnotations, isKubernetesSigner } from '../common/validation/signer-names.ts';
import { readPath, toNumber, toObjects, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { checkIssued } from './issued-certificate.ts';
import { checkProof } from './pod-keys.ts';

const answers = ['Issued', 'Denied', 'Failed'];

/** Later conditions win, as in the reference; there is one at most. */
function formatState(request: KubeObject): string {
  const types = toObjects(readPath(request, 'status', 'conditions')).map(({ type }) => toText(type));
  return types.filter((type) => answers.includes(type)).at(-1) ?? 'Pending';
}

const requestColumns: readonly Column[] = [
  nameColumn, textColumn('PodName', 'spec', 'podName'), textColumn('ServiceAccountName', 'spec', 'serviceAccountName'),
  textColumn('NodeName', 'spec', 'nodeName'), textColumn('SignerName', 'spec', 'signerName'), column('State', formatState),
  column('UnverifiedUserAnnotations', (request) => formatLabels(readPath(request, 'spec', 'unverifiedUserAnnotations'))),
];

const DAY_S = 86_400;
const HOUR_S = 3600;
const MAX_UID_BYTES = 128;

/** UIDs are any text of bounded length. */
function checkUid({ path, value }: Field): Errors {
  const uid = toText(value);
  if (uid === '') return [invalidValue(path, uid, 'must not be empty')];
  return uid.length > MAX_UID_BYTES ? [tooLong(path, MAX_UID_BYTES)] : [];
}

function checkLifetime({ path, value }: Field, signer: string): Errors {
  const [seconds, most] = [toNumber(value), isKubernetesSigner(signer) ? DAY_S : 91 * DAY_S];
  return seconds >= HOUR_S && seconds <= most ? [] : [invalidValue(path, value, `must be in the range [${HOUR_S}, ${most}]`)];
}

function validateRequest(request: KubeObject): Errors {
  const member = (name: string): Field => at(specOf(request), name);
  const named = (of: string, uid: string): Errors => [...checkText(member(of), checkDnsSubdomain), ...checkUid(member(uid))];
  return [
    ...checkSignerName(member('signerName')), ...checkUserAnnotations(member('unverifiedUserAnnotations')), ...named('podName', 'podUID'),
    ...named('serviceAccountName', 'serviceAccountUID'), ...named('nodeName', 'nodeUID'),
    ...checkLifetime(member('maxExpirationSeconds'), toText(member('signerName').value)), ...checkProof(request),
  ];
}

const structs = readGoStructs(`
PodCertificateRequestSpec: SignerName ""; +Pod; ServiceAccountName ""; ServiceAccountUID ""; NodeName ""; NodeUID ""; MaxExpirationSeconds; +Keys; +Annotations
Pod: PodName ""; PodUID ""
Keys: PKIXPublicKey=pkixPublicKey; ProofOfPossession; StubPKCS10Request
Annotations: UnverifiedUserAnnotations
`);

/** The spec never changes. */
function checkSameSpec(request: KubeObject, old: KubeObject): Errors {
  const show = (object: KubeObject): unknown => shapeGoStruct(structs, 'PodCertificateRequestSpec', object['spec']);
  return equalJson(show(request), show(old)) ? [] : [invalidValue('spec', show(request), 'field is immutable')];
}

/** At most one of the answers, and its status is True. Paths have a dot before the index, as in the reference. */
function checkAnswers(conditions: Field): Errors {
  let known = 0;
  return each(conditions).flatMap(({ value }, index): Errors => {
    const [type, status] = [toText(readPath(value, 'type')), toText(readPath(value, 'status'))];
    const path = `${conditions.path}.[${index}]`;
    if (!answers.includes(type)) return [notSupportedText(`${path}.type`, type, answers, true)];
    known += 1;
    const errors: FieldError[] = [];
    if (known > 1) errors.push(invalidValue(`${path}.type`, type, 'There may be at most one condition with type "Issued", "Denied", or "Failed"'));
    if (status !== 'True') errors.push(notSupported(`${path}.status`, status, ['True']));
    return errors;
  });
}

const isTrue = (request: KubeObject, ...types: readonly string[]): boolean => types.some((type) => readCondition(request, type)?.['status'] === 'True');

/** A status without the members that say nothing. */
const shownStatus = (request: KubeObject): Record<string, unknown> =>
  Object.fromEntries(Object.entries((request['status'] ?? {}) as object).filter(([, value]) => isGiven({ path: '', value }) && !isEmpty(value)));
const isEmpty = (value: unknown): boolean => value === '' || (Array.isArray(value) && value.length === 0);

function validateRequestStatus(request: KubeObject, old: KubeObject, { nowMs }: { readonly nowMs: number }): Errors {
  const conditions = at(statusOf(request), 'conditions');
  const wrong = [...checkAnswers(conditions), ...checkConditions(conditions)];
  if (wrong.length > 0) return wrong;
  const same = (detail: string): Errors => (equalJson(shownStatus(request), shownStatus(old)) ? [] : [invalidUnshown('status', detail)]);
  if (isTrue(old, ...answers)) return same('immutable after PodCertificateRequest is issued, denied, or failed');
  if (isTrue(request, 'Denied', 'Failed')) {
    const { conditions: _conditions, ...rest } = shownStatus(request);
    const why = 'non-condition status fields must be empty when denying or failing the PodCertificateRequest';
    return Object.keys(rest).length === 0 ? [] : [invalidUnshown('status', why)];
  }
  if (isTrue(request, 'Issued')) return checkIssued(request, old, nowMs);
  return same('status is immutable unless transitioning to "Issued", "Denied", or "Failed"');
}

/** The spec of PodCertificateRequest. */
export const podCertificateRequestKind: KindSpec = {
  kind: 'PodCertificateRequest', plural: 'podcertificaterequests', versions: ['v1beta1'], gate: 'PodCertificateRequest',
  unconditionalUpdate: false,
  subresources: [status],
  metadataChecks: ['update', 'kind'],
  selectableFields: textFields('spec.signerName', 'spec.podName', 'spec.nodeName'),
  resetFields: { '': [], status: [['spec']] },
  columns: requestColumns,
  strategy: keepUserMetadata,
  validation: { object: validateRequest, update: checkSameSpec, status: validateRequestStatus },
};
