// The authorities and header names that the servers of one store announce to aggregated servers, in one ConfigMap. As in the reference, those of other
// servers stay, authorities until they expire.
import { X509Certificate } from 'node:crypto';

type Data = Readonly<Record<string, string>>;

/** Unites the data of the ConfigMap with this server's. */
export const uniteAuthentication = (present: Data, own: Data, nowMs: number): Data =>
  Object.fromEntries(Object.entries(own).map(([key, value]) => {
    const before = present[key];
    if (before === undefined || before === value) return [key, value];
    return [key, key.endsWith('-ca-file') ? uniteAuthorities(before, value, nowMs) : uniteLists(before, value)];
  }));

/** Certificates beyond these are not looked at: a ConfigMap holds no more. */
const MAX_AUTHORITIES = 1000;

const listCertificates = (pem: string): string[] =>
  pem.split('-----END CERTIFICATE-----', MAX_AUTHORITIES).filter((part) => part.includes('-----BEGIN CERTIFICATE-----'))
    .map((part) => `${part.slice(part.indexOf('-----BEGIN CERTIFICATE-----'))}-----END CERTIFICATE-----\n`);

const uniteAuthorities = (before: string, own: string, nowMs: number): string =>
  [...new Set([...listCertificates(before).filter((pem) => isValid(pem, nowMs)), ...listCertificates(own)])].join('');

function isValid(pem: string, nowMs: number): boolean {
  try {
    return Date.parse(new X509Certificate(pem).validTo) > nowMs;
  } catch {
    return false;
  }
}

/** JSON lists of texts; one that is none counts for nothing. */
function uniteLists(before: string, own: string): string {
  try {
    const [first, second] = [before, own].map((text) => JSON.parse(text) as unknown);
    return Array.isArray(first) && Array.isArray(second) ? JSON.stringify([...new Set([...first, ...second] as unknown[])]) : own;
  } catch {
    return own;
  }
}
