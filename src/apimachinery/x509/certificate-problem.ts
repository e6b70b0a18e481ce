// Why bytes are no certificates, in the words of Go's crypto/x509 for the parts up to the subject; what comes behind is read by parseCertificate.
import { parseCertificate } from './certificate.ts';
import { type Element, INTEGER, OID, SEQUENCE, readElement } from './der.ts';

const SET = 0x31;
const VERSION = 0xa0;

/** Reads elements one after the other; one of another tag is none, and stays where it is. */
class Cursor {
  #rest: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#rest = bytes;
  }

  get isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  take(tag?: number): Element | undefined {
    const element = readElement(this.#rest);
    if (element === undefined || (tag !== undefined && element.tag !== tag)) return undefined;
    this.#rest = this.#rest.subarray(element.whole.length);
    return element;
  }
}

const within = (element: Element): Cursor => new Cursor(element.content);
const isSame = (one: Element, other: Element): boolean =>
  one.content.length === other.content.length && one.content.every((byte, index) => byte === other.content[index]);

/** Why an element is no name; undefined when it is one. */
function findNameProblem(name: Element): string | undefined {
  const why = 'x509: invalid RDNSequence';
  for (const sets = within(name); !sets.isEmpty;) {
    const set = sets.take(SET);
    if (set === undefined) return why;
    for (const attributes = within(set); !attributes.isEmpty;) {
      const attribute = attributes.take(SEQUENCE);
      if (attribute === undefined) return `${why}: invalid attribute`;
      const parts = within(attribute);
      if (parts.take(OID) === undefined) return `${why}: invalid attribute type`;
      if (parts.take() === undefined) return `${why}: invalid attribute value`;
    }
  }
  return undefined;
}

/** The problem of a certificate; undefined when it has none. */
function findProblem(certificate: Element): string | undefined {
  const outer = within(certificate);
  const signed = outer.take(SEQUENCE);
  if (signed === undefined) return 'x509: malformed tbs certificate';
  const fields = within(signed);
  const version = fields.take(VERSION);
  if (version !== undefined && within(version).take(INTEGER) === undefined) return 'x509: malformed version';
  if (fields.take(INTEGER) === undefined) return 'x509: malformed serial number';
  const inner = fields.take(SEQUENCE);
  if (inner === undefined) return 'x509: malformed signature algorithm identifier';
  const algorithm = outer.take(SEQUENCE);
  if (algorithm === undefined) return 'x509: malformed algorithm identifier';
  if (!isSame(inner, algorithm)) return "x509: inner and outer signature algorithm identifiers don't match";
  const issuer = fields.take(SEQUENCE);
  if (issuer === undefined) return 'x509: malformed issuer';
  const problem = findNameProblem(issuer);
  if (problem !== undefined) return problem;
  if (fields.take(SEQUENCE) === undefined) return 'x509: malformed validity';
  const subject = fields.take(SEQUENCE);
  if (subject === undefined) return 'x509: malformed issuer';
  return findNameProblem(subject) ?? (parseCertificate(certificate.whole) === undefined ? 'x509: malformed certificate' : undefined);
}

/** The number of certificates that stand one after the other in these bytes; a returned text is why they cannot be read. */
export function countCertificates(der: Uint8Array): number | string {
  let count = 0;
  for (const certificates = new Cursor(der); !certificates.isEmpty; count += 1) {
    const certificate = certificates.take(SEQUENCE);
    const problem = certificate === undefined ? 'x509: malformed certificate' : findProblem(certificate);
    if (problem !== undefined) return problem;
  }
  return count;
}
