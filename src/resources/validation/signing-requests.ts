// Validation of CertificateSigningRequests: what is asked for, and on the paths that answer it, the answer.
import {
  type FieldError, type KubeObject, checkDnsSubdomain, duplicate, forbiddenField, invalidValue, notSupported, parseCertificateRequest, parsePem, required,
} from '../../apimachinery/index.ts';
import type { StrategyContext } from '../../registry/index.ts';
import { readPath, toList, toObjects, toText } from '../columns/common.ts';

const usages = [
  'any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment', 'decipher only', 'digital signature',
  'email protection', 'encipher only', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'key agreement', 'key encipherment', 'microsoft sgc',
  'netscape sgc', 'ocsp signing', 's/mime', 'server auth', 'signing', 'timestamping',
];
const minSeconds = 600;
/** Conditions that stay once they are there, and are true or not there. */
const permanent = ['Approved', 'Denied', 'Failed'];

/** Problems of a new request. */
export function validateSigningRequest(object: KubeObject): FieldError[] {
  const spec = (name: string): unknown => readPath(object, 'spec', name);
  const seconds = spec('expirationSeconds');
  const short = typeof seconds === 'number' && seconds < minSeconds;
  return [
    ...checkRequest(toText(spec('request'))), ...checkUsages(toList(spec('usages'))), ...checkSigner(toText(spec('signerName'))),
    ...(short ? [invalidValue('spec.expirationSeconds', seconds, 'may not specify a duration less than 600 seconds (10 minutes)')] : []),
    ...checkConditions(object), ...checkCertificate(object),
  ];
}

function decodeBase64(text: string): string {
  try {
    return atob(text);
  } catch {
    return '';
  }
}

function checkRequest(request: string): FieldError[] {
  const [block] = parsePem(decodeBase64(request));
  if (block?.type !== 'CERTIFICATE REQUEST') return [invalidValue('spec.request', request, 'PEM block type must be CERTIFICATE REQUEST')];
  if (parseCertificateRequest(block.bytes) !== undefined) return [];
  return [invalidValue('spec.request', request, 'asn1: structure error: malformed certificate request')];
}

function checkUsages(given: readonly unknown[]): FieldError[] {
  if (given.length === 0) return [required('spec.usages')];
  return given.flatMap((usage, index) => {
    if (!usages.includes(toText(usage))) return [notSupported(`spec.usages[${index}]`, usage, usages)];
    return given.indexOf(usage) < index ? [duplicate(`spec.usages[${index}]`, usage)] : [];
  });
}

function checkSigner(name: string): FieldError[] {
  const path = 'spec.signerName';
  if (name === '') return [required(path)];
  const [domain = '', last = '', ...more] = name.split('/');
  if (!name.includes('/') || more.length > 0) {
    return [invalidValue(path, name, 'must be a fully qualified domain and path of the form \'example.com/signer-name\'')];
  }
  const errors = checkDnsSubdomain(domain).map((problem) => invalidValue(path, domain, `validating label ${JSON.stringify(domain)}: ${problem}`));
  if (errors.length === 0 && !domain.includes('.')) errors.push(invalidValue(path, domain, 'should be a domain with at least two segments separated by dots'));
  errors.push(...checkDnsSubdomain(last).map((problem) => invalidValue(path, last, `validating label ${JSON.stringify(last)}: ${problem}`)));
  if (name === 'kubernetes.io/legacy-unknown') errors.push(invalidValue(path, name, 'the legacy signerName is not allowed via this API version'));
  return errors;
}

const conditionsOf = (object: KubeObject) => toObjects(readPath(object, 'status', 'conditions'));

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
  const other = blocks.find(({ type }) => type !== 'CERTIFICATE');
  if (other !== undefined) return refuse(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(other.type)}`);
  if (blocks.some(({ hasHeaders }) => hasHeaders)) return refuse('no PEM block headers are permitted');
  return blocks.length === 0 ? refuse('must contain at least one CERTIFICATE PEM block') : [];
}

/** Problems of a change on any path. The request itself cannot change. */
export function validateSigningRequestUpdate(object: KubeObject, old: KubeObject, { subresource }: StrategyContext): FieldError[] {
  const errors = [...checkConditions(object), ...checkCertificate(object)];
  for (const type of permanent) {
    const count = (one: KubeObject) => conditionsOf(one).filter((condition) => condition['type'] === type).length;
    if (count(object) < count(old)) errors.push(forbiddenField('status.conditions', `updates may not remove a condition of type ${JSON.stringify(type)}`));
  }
  const certificate = (one: KubeObject) => toText(readPath(one, 'status', 'certificate'));
  if (certificate(object) === certificate(old)) return errors;
  if (certificate(old) !== '') errors.push(forbiddenField('status.certificate', 'updates may not modify existing certificate content'));
  else if (subresource !== 'status') errors.push(forbiddenField('status.certificate', 'updates may not set certificate content'));
  return errors;
}
