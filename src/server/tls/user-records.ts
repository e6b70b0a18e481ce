// The client certificates that `pintle kubeconfig` has made, and those of them that are revoked: `users.jsonl` in the directory of certificates,
// a line for each event. Lines are appended, which two commands at once do without losing one. A server follows the file.
import { X509Certificate, createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/index.ts';
import { readCurrent } from '../config-files/followed-files.ts';
import type { ServerOptions } from '../options/options.ts';

/** A client certificate. Times are RFC 3339. */
export interface UserCertificate {
  readonly user: string;
  readonly groups: readonly string[];
  /** SHA-256, in hexadecimal, as audit events and SelfSubjectReviews have it. */
  readonly fingerprint: string;
  readonly issued: string;
  readonly expires: string;
  readonly revoked?: string | undefined;
}

type Event = ({ readonly event: 'issued' } & UserCertificate) | { readonly event: 'revoked'; readonly fingerprint: string; readonly time: string };

/** The name of the file. */
export const USER_RECORDS = 'users.jsonl';
const nothing = { isRevoked: (): boolean => false, stop: (): void => {} };

/** What a certificate says of its user. */
export function describeUserCertificate(pem: string): UserCertificate {
  const parsed = new X509Certificate(pem);
  const subject = parsed.toLegacyObject().subject as unknown as { readonly CN?: string | string[]; readonly O?: string | string[] };
  const list = (value: string | string[] = []): string[] => (typeof value === 'string' ? [value] : value);
  return {
    user: list(subject.CN).at(-1) ?? '', groups: list(subject.O),
    fingerprint: createHash('sha256').update(parsed.raw).digest('hex'),
    issued: new Date(parsed.validFrom).toISOString(), expires: new Date(parsed.validTo).toISOString(),
  };
}

/** Notes a certificate that was made. */
export function recordIssued(directory: string, certificate: string, clock: Clock): void {
  append(directory, { event: 'issued', ...describeUserCertificate(certificate), issued: new Date(clock.now()).toISOString() });
}

/** Notes that a certificate is good no more. */
export function recordRevoked(directory: string, fingerprint: string, clock: Clock): void {
  append(directory, { event: 'revoked', fingerprint, time: new Date(clock.now()).toISOString() });
}

/** The certificates on record, oldest first. */
export function readUserCertificates(directory: string): UserCertificate[] {
  const path = join(directory, USER_RECORDS);
  const events = existsSync(path) ? parseEvents(readFileSync(path, 'utf8')) : [];
  const revoked = new Map(events.flatMap((event) => (event.event === 'revoked' ? [[event.fingerprint, event.time]] : [])));
  return events.flatMap((event) => (event.event === 'issued' ? [{ ...event, revoked: revoked.get(event.fingerprint) }] : []));
}

/** Whether a certificate is revoked at the moment. Throws StartError for a file of records that cannot be read. */
export function followRevocations(options: Pick<ServerOptions, 'clock' | 'logger'>, directory: string) {
  if (directory === '') return nothing;
  const path = join(directory, USER_RECORDS);
  if (!existsSync(path) && !tryToMake(path)) return nothing;
  const revoked = readCurrent({
    files: [{ flag: '--cert-dir', path }], what: 'the record of users', options,
    read: ([text = '']) => new Set(parseEvents(text).flatMap((event) => (event.event === 'revoked' ? [event.fingerprint] : []))),
  });
  return { isRevoked: (fingerprint: string): boolean => revoked.value.has(fingerprint), stop: () => revoked.stop() };
}

/** False where the directory cannot be written: then there are no records, since commands cannot write there either. */
function tryToMake(path: string): boolean {
  try {
    writeFileSync(path, '', { mode: 0o600, flag: 'a' });
    return true;
  } catch {
    return false;
  }
}

function append(directory: string, event: Event): void {
  appendFileSync(join(directory, USER_RECORDS), `${JSON.stringify(event)}\n`, { mode: 0o600, flush: true });
}

/** Throws for a line that is no event: a record that is passed over could be a revocation. */
function parseEvents(text: string): Event[] {
  return text.split('\n').filter((line) => line !== '').map((line, index) => {
    try {
      return JSON.parse(line) as Event;
    } catch (error) {
      throw new Error(`line ${index + 1} is not JSON`, { cause: error });
    }
  });
}
