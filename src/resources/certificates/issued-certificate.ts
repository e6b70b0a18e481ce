// The answer of a signer to a PodCertificateRequest: a chain of certificates of which the first is for the key that was asked for, and times that it says
// as well.
import {
  type Certificate, type FieldError, type KubeObject, byteLength, invalidValue, parseCertificate, parsePem, required, tooLong,
} from '../../apimachinery/index.ts';
import { type Errors, type Field, at, isEmptyText, statusOf } from '../common/validation/check.ts';
import { readPath, toNumber, toText } from '../common/values.ts';
import { requestedKey } from './pod-keys.ts';

const MAX_CHAIN_BYTES = 100 * 1024;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NS_PER_MS = 1e6;
const CONSISTENT = 'must be present and consistent with the issued certificate';
const REFRESH_RANGE = 'must be present and in the range [notbefore+10min, notafter-10min]';

/** The problems of a status that issues a certificate; the first step that finds any is the last. */
export function checkIssued(request: KubeObject, old: KubeObject, nowMs: number): Errors {
  const chain = at(statusOf(request), 'certificateChain');
  const text = toText(chain.value);
  if (byteLength(text) > MAX_CHAIN_BYTES) return [tooLong(chain.path, MAX_CHAIN_BYTES)];
  const refuse = (why: string): Errors => [invalidValue(chain.path, text, why)];
  const [leafBlock, ...others] = parsePem(text);
  if (leafBlock === undefined) return refuse('issued certificate chain must contain at least one certificate');
  if (leafBlock.type !== 'CERTIFICATE') return refuse('issued certificate chain must consist entirely of CERTIFICATE PEM blocks');
  const leaf = parseCertificate(leafBlock.bytes);
  if (leaf === undefined) return refuse('leaf certificate does not parse as valid X.509');
  const names = checkNames(chain.path, leaf);
  if (!equalBytes(leaf.publicKey, requestedKey(old))) return [...names, ...refuse('leaf certificate was not issued to the requested public key')];
  const missing = [...names, ...checkTimesGiven(request)];
  if (missing.length > 0) return missing;
  const wrong = findWrongTime(request, leaf, nowMs);
  if (wrong !== undefined) return [wrong];
  const block = others.find(({ type, bytes }) => type !== 'CERTIFICATE' || parseCertificate(bytes) === undefined);
  if (block === undefined) return [];
  // The reference spells it so.
  return refuse(block.type === 'CERTIFICATE' ? 'intermediate certificate does not parse as valid X.509'
    : 'issued certificate chain must consist entirely of CERTFICATE PEM blocks');
}

const equalBytes = (one: Uint8Array, other: Uint8Array | undefined): boolean =>
  one.length === other?.length && one.every((byte, index) => byte === other[index]);

function checkNames(path: string, { dnsNames, emailAddresses }: Certificate): Errors {
  const ofDns = dnsNames.flatMap((name) => [
    ...(name === '' ? [invalidValue(path, name, 'leaf certificate should not contain empty DNSName')] : []),
    ...(name.includes('..') ? [invalidValue(path, name, "leaf certificate's DNSName should not contain '..'")] : []),
    ...(/^\.|\.$/.test(name) ? [invalidValue(path, name, "leaf certificate's DNSName should not start or end with '.'")] : []),
  ]);
  const wrong = emailAddresses.filter((address) => !isEmailAddress(address));
  return [...ofDns, ...wrong.map((address) => invalidValue(path, address, 'leaf certificate should not contain invalid EmailAddress'))];
}

const emailAtom = /^[^\s()<>[\]:;@\\,."]+$/;

/** Dotted words before and after one sign; names around an address are no part of certificates. */
function isEmailAddress(text: string): boolean {
  const sides = text.split('@');
  return sides.length === 2 && sides.every((side) => side.split('.').every((atom) => emailAtom.test(atom)));
}

const timeAt = (request: KubeObject, name: string): Field => at(statusOf(request), name);

function checkTimesGiven(request: KubeObject): Errors {
  const times = [['notBefore', CONSISTENT], ['notAfter', CONSISTENT], ['beginRefreshAt', REFRESH_RANGE]] as const;
  return times.filter(([name]) => isEmptyText(timeAt(request, name))).map(([name, why]) => required(timeAt(request, name).path, why));
}

/** The times are those of the certificate, which begins about now, and lives for an hour at least and as long as the request permits. */
function findWrongTime(request: KubeObject, leaf: Certificate, nowMs: number): FieldError | undefined {
  const [notBefore, notAfter, refresh] = ['notBefore', 'notAfter', 'beginRefreshAt'].map((name) => timeAt(request, name)) as [Field, Field, Field];
  const msOf = ({ value }: Field): number => Date.parse(toText(value));
  const lifetimeMs = leaf.notAfterMs - leaf.notBeforeMs;
  const maxSeconds = toNumber(readPath(request, 'spec', 'maxExpirationSeconds'));
  const chain = { path: 'status.certificateChain', value: lifetimeMs * NS_PER_MS };
  const checks: readonly (readonly [isWrong: boolean, place: Field, why: string])[] = [
    [msOf(notBefore) !== leaf.notBeforeMs, notBefore, 'must be set to the NotBefore time encoded in the leaf certificate'],
    [Math.abs(msOf(notBefore) - nowMs) >= 5 * MINUTE_MS, notBefore, "must be set to within 5 minutes of kube-apiserver's current time"],
    [msOf(notAfter) !== leaf.notAfterMs, notAfter, 'must be set to the NotAfter time encoded in the leaf certificate'],
    [lifetimeMs < HOUR_MS, chain, 'leaf certificate lifetime must be >= 1 hour'],
    [lifetimeMs > maxSeconds * 1000, chain, `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxSeconds})`],
    [msOf(refresh) < msOf(notBefore) + 10 * MINUTE_MS, refresh, 'must be at least 10 minutes after status.notBefore'],
    [msOf(refresh) > msOf(notAfter) - 10 * MINUTE_MS, refresh, 'must be at least 10 minutes before status.notAfter'],
  ];
  const found = checks.find(([isWrong]) => isWrong);
  return found && invalidValue(found[1].path, found[1].value, found[2]);
}
