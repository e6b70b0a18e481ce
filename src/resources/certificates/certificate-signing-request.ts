// certificates.k8s.io/v1 CertificateSigningRequest: the server records the requester, approval alone decides, status alone issues.
import {
  type FieldError, type JsonObject, type KubeObject, countCertificates, describeBadKey, duplicate, findRequestFault, findSubjectFault, forbiddenField,
  invalidValue, notSupported, parseCertificateRequest, parsePem, parsePublicKey, required,
} from '../../apimachinery/index.ts';
import { type Column, type StrategyContext, formatTime } from '../../registry/index.ts';
import { ageColumn, column, nameColumn, readCondition, textColumn, textOr } from '../common/columns/columns.ts';
import { formatHumanDuration } from '../common/columns/duration.ts';
import { ensureStruct } from '../common/defaults.ts';
import { textFields } from '../common/selectable-fields.ts';
import { copyMember, prepareWithStatus } from '../common/status.ts';
import { status, subresource } from '../common/subresources.ts';
import { checkSignerName } from '../common/validation/signer-names.ts';
import { readPath, toList, toNumber, toObjects, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { LEGACY_SIGNER, formerRequests } from './former-versions.ts';
import type { SignatureClaim } from './pod-keys.ts';
import { decodeBase64, readRequestBlock } from './request-block.ts';

/** The condition column: the decision, a failure, and whether a certificate was issued. */
function formatRequestState(object: KubeObject): string {
  const decision = readCondition(object, 'Denied') ? 'Denied' : readCondition(object, 'Approved') ? 'Approved' : 'Pending';
  const failed = readCondition(object, 'Failed') ? ',Failed' : '';
  return `${decision}${failed}${toText(readPath(object, 'status', 'certificate')) === '' ? '' : ',Issued'}`;
}

function formatRequestedDuration(object: KubeObject): string {
  const seconds = readPath(object, 'spec', 'expirationSeconds');
  return seconds === undefined ? '<none>' : formatHumanDuration(toNumber(seconds) * 1000);
}

const SIGNER_PATH = 'spec.signerName';

/** Columns of certificatesigningrequests. */
const signingRequestColumns: readonly Column[] = [
  nameColumn,
  ageColumn,
  column('SignerName', (object) => textOr(readPath(object, 'spec', 'signerName'), '<none>')),
  textColumn('Requestor', 'spec', 'username'),
  column('RequestedDuration', formatRequestedDuration),
  column('Condition', formatRequestState),
];
const signingRequestFields = textFields('spec.signerName');

/** The caller is the requester, whatever the body says. */
function stampRequester(request: KubeObject, { user }: StrategyContext): void {
  const { uid: _uid, extra: _extra, ...spec } = ensureStruct(request, 'spec');
  const extra = Object.entries(user.extra ?? {}).map(([key, values]) => [key, [...values]]);
  request['spec'] = {
    ...spec, username: user.name, ...(user.uid && { uid: user.uid }), groups: [...user.groups],
    ...(extra.length > 0 && { extra: Object.fromEntries(extra) as JsonObject }),
  };
}

const decisions = ['Approved', 'Denied'];

const conditionsOf = (object: KubeObject) => toObjects(readPath(object, 'status', 'conditions'));

/** Times that the client leaves out: that of the same condition in the stored object, or the time of the request. */
function stampConditions(request: KubeObject, old: KubeObject, nowMs: number): void {
  const keyOf = ({ type, status }: JsonObject): string => JSON.stringify([type, status]);
  // Of several alike the first counts.
  const timed = conditionsOf(old).filter(({ lastTransitionTime }) => lastTransitionTime).reverse();
  const times = new Map(timed.map((condition) => [keyOf(condition), condition['lastTransitionTime']]));
  for (const condition of toObjects(readPath(request, 'status', 'conditions')) as JsonObject[]) {
    if (!condition['lastUpdateTime']) condition['lastUpdateTime'] = formatTime(nowMs);
    if (condition['lastTransitionTime']) continue;
    condition['lastTransitionTime'] = times.get(keyOf(condition)) ?? formatTime(nowMs);
  }
}

/** The status endpoint cannot decide: decisions stay as they were stored. Where it states more or fewer than these, validation refuses it. */
function keepDecisions(request: KubeObject, old: KubeObject): void {
  for (const type of decisions) {
    const isOfType = (condition: JsonObject): boolean => condition['type'] === type;
    const given = conditionsOf(request);
    const stored = conditionsOf(old).filter(isOfType);
    if (stored.length === 0 || given.filter(isOfType).length !== stored.length) continue;
    const kept = given.map((condition) => (isOfType(condition) ? structuredClone(stored.shift() as JsonObject) : condition));
    ensureStruct(request, 'status')['conditions'] = kept as JsonObject[];
  }
}

const requestStatus = prepareWithStatus({
  prepareForCreate: stampRequester,
  prepareForUpdate: (request, old) => copyMember(request, old, 'spec'),
  prepareForStatus(request, old, { nowMs }) {
    keepDecisions(request, old);
    stampConditions(request, old, nowMs);
  },
});

const usages = [
  'any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment', 'decipher only', 'digital signature',
  'email protection', 'encipher only', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'key agreement', 'key encipherment', 'microsoft sgc',
  'netscape sgc', 'ocsp signing', 's/mime', 'server auth', 'signing', 'timestamping',
];
const MIN_SECONDS = 600;

/** Conditions that cannot be removed, and whose only status is True. */
const permanent = ['Approved', 'Denied', 'Failed'];

/** Problems of a new request. */
function validateSigningRequest(object: KubeObject): FieldError[] {
  const spec = (name: string): unknown => readPath(object, 'spec', name);
  const seconds = spec('expirationSeconds');
  const short = typeof seconds === 'number' && seconds < MIN_SECONDS;
  return [
    ...checkRequest(spec('request')), ...checkUsages(toList(spec('usages'))), ...checkSigner(toText(spec('signerName'))),
    ...(short ? [invalidValue('spec.expirationSeconds', seconds, 'may not specify a duration less than 600 seconds (10 minutes)')] : []),
    ...checkConditions(object), ...checkCertificate(object),
  ];
}

function checkRequest(request: unknown): FieldError[] {
  const block = readRequestBlock(request);
  if (block === undefined) return [invalidValue('spec.request', request ?? null, 'PEM block type must be CERTIFICATE REQUEST')];
  const fault = findFault(block);
  return fault === undefined ? [] : [invalidValue('spec.request', request, fault)];
}

/** Why a request cannot be read; the reference parses it, its key and its subject, in this order. */
function findFault(der: Uint8Array): string | undefined {
  const fault = findRequestFault(der);
  if (fault !== undefined) return fault;
  const parts = parseCertificateRequest(der);
  if (parts !== undefined && parsePublicKey(parts.publicKey) === undefined) return describeBadKey(parts.publicKey);
  return findSubjectFault(der) ?? (parts === undefined ? 'asn1: structure error: malformed certificate request' : undefined);
}

const wrongSignatures: Readonly<Record<string, string>> = {
  RSA: 'crypto/rsa: verification error', ECDSA: 'x509: ECDSA verification failure', Ed25519: 'x509: Ed25519 verification failure',
};
const UNKNOWN_ALGORITHM = 'x509: cannot verify signature: algorithm unimplemented';
const unverified: Readonly<Record<string, string>> = { '1.2.840.113549.1.1.4': 'x509: cannot verify signature: insecure algorithm MD5-RSA' };

/** The problem of a request that can be read and is not signed with the key that it asks for; `canVerify`: whether signatures of an algorithm are known. */
export function checkRequestSignature({ object, verify, canVerify }: {
  readonly object: KubeObject; readonly verify: (claim: SignatureClaim) => boolean; readonly canVerify: (algorithm: string) => boolean;
}): FieldError[] {
  const request = readPath(object, 'spec', 'request');
  const block = readRequestBlock(request);
  const parts = block === undefined || findFault(block) !== undefined ? undefined : parseCertificateRequest(block);
  if (parts === undefined) return [];
  const { info: signed, publicKey, signatureAlgorithm: algorithm, signature } = parts;
  const why = canVerify(algorithm) ? wrongSignatures[parsePublicKey(publicKey)?.type ?? ''] : undefined;
  if (why !== undefined && verify({ publicKey, algorithm, signed, signature })) return [];
  return [invalidValue('spec.request', request, why ?? unverified[algorithm] ?? UNKNOWN_ALGORITHM)];
}

function checkUsages(given: readonly unknown[]): FieldError[] {
  if (given.length === 0) return [required('spec.usages')];
  const seen = new Set<unknown>();
  const isRepeated = (usage: unknown): boolean => {
    const isKnown = seen.has(usage);
    seen.add(usage);
    return isKnown;
  };
  return [
    ...given.flatMap((usage, index) => (usages.includes(toText(usage)) ? [] : [notSupported(`spec.usages[${index}]`, usage, usages)])),
    ...given.flatMap((usage, index) => (isRepeated(usage) ? [duplicate(`spec.usages[${index}]`, usage)] : [])),
  ];
}

function checkSigner(name: string): readonly FieldError[] {
  const errors = checkSignerName({ path: SIGNER_PATH, value: name });
  const isLegacy = name === LEGACY_SIGNER;
  return isLegacy ? [...errors, invalidValue(SIGNER_PATH, name, 'the legacy signerName is not allowed via this API version')] : errors;
}

function checkConditions(object: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, condition] of conditionsOf(object).entries()) {
    const [path, type, status] = [`status.conditions[${index}]`, toText(condition['type']), toText(condition['status'])];
    const allowed = permanent.includes(type) ? ['True'] : ['True', 'False', 'Unknown'];
    if (type === '') errors.push(required(`${path}.type`));
    if (status === '') errors.push(required(`${path}.status`));
    else if (!allowed.includes(status)) errors.push(notSupported(`${path}.status`, status, allowed));
    if (seen.has(type)) errors.push(duplicate(`${path}.type`, type));
    const other = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined;
    if (other !== undefined && seen.has(other)) errors.push(invalidValue('status.conditions', type, 'Approved and Denied conditions are mutually exclusive'));
    seen.add(type);
  }
  return errors;
}

function checkCertificate(object: KubeObject): FieldError[] {
  const certificate = toText(readPath(object, 'status', 'certificate'));
  if (certificate === '') return [];
  const refuse = (why: string) => [invalidValue('status.certificate', '<certificate data>', why)];
  const blocks = parsePem(decodeBase64(certificate));
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return refuse(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`);
    if (hasHeaders) return refuse('no PEM block headers are permitted');
    const count = countCertificates(bytes);
    if (count === 0) return refuse('found CERTIFICATE PEM block containing 0 certificates');
    if (typeof count === 'string') return refuse(count);
  }
  return blocks.length === 0 ? refuse('must contain at least one CERTIFICATE PEM block') : [];
}

/** Problems of a change on any path. The request itself cannot change; only the status path may issue a certificate. */
function validateSigningRequestUpdate(object: KubeObject, old: KubeObject, { mayIssue = false, mayDecide = false } = {}): FieldError[] {
  const [certificate, before] = [object, old].map((one) => toText(readPath(one, 'status', 'certificate')));
  const errors = [...checkConditions(object), ...(certificate === before ? [] : checkCertificate(object))];
  const gained = (type: string): number => {
    const [now, then] = [object, old].map((one) => conditionsOf(one).filter((condition) => condition['type'] === type).length) as [number, number];
    return now - then;
  };
  const refuse = (change: string, type: string): FieldError =>
    forbiddenField('status.conditions', `updates may not ${change} a condition of type ${JSON.stringify(type)}`);
  errors.push(...permanent.filter((type) => gained(type) < 0).map((type) => refuse('remove', type)));
  if (!mayDecide) errors.push(...decisions.filter((type) => gained(type) > 0).map((type) => refuse('add', type)));
  if (certificate === before) return errors;
  if (!mayIssue) errors.push(forbiddenField('status.certificate', 'updates may not set certificate content'));
  else if (before !== '') errors.push(forbiddenField('status.certificate', 'updates may not modify existing certificate content'));
  return errors;
}

/** The spec of CertificateSigningRequest. */
export const certificateSigningRequestKind: KindSpec = {
  kind: 'CertificateSigningRequest', plural: 'certificatesigningrequests', shortNames: ['csr'], cluster: true, nameRule: 'any',
  formerVersions: formerRequests,
  subresources: [subresource('approval'), status],
  selectableFields: signingRequestFields,
  resetFields: {
    '': [['spec'], ['status']], status: [['spec'], ['status', 'conditions']], approval: [['spec'], ['status', 'certificate']],
  },
  columns: signingRequestColumns,
  strategy: {
    ...requestStatus,
    prepareForUpdate(request, old, context) {
      if (context.subresource !== 'approval') {
        requestStatus.prepareForUpdate?.(request, old, context);
        return;
      }
      const conditions = readPath(request, 'status', 'conditions');
      copyMember(request, old, 'spec');
      const { conditions: _before, ...status } = ensureStruct(structuredClone(old), 'status');
      request['status'] = { ...status, ...(conditions !== undefined && conditions !== null && { conditions }) } as JsonObject;
      stampConditions(request, old, context.nowMs);
    },
  },
  statusMetadataChecks: ['object', 'kind', 'update'],
  validation: {
    object: validateSigningRequest,
    update: (request, old) => validateSigningRequestUpdate(request, old),
    status: (request, old) => validateSigningRequestUpdate(request, old, { mayIssue: true }),
    subresources: { approval: (request, old) => validateSigningRequestUpdate(request, old, { mayDecide: true }) },
  },
};
