// PEM blocks, what a PKCS#10 certificate request says, and whether a certificate is that of an authority, read from their DER. Pure: signatures are
// checked where there is cryptography. Lengths are checked before anything is read, and what does not fit is an error, so that any bytes can be given.

/** One block of a PEM text. */
interface PemBlock {
  readonly type: string;
  /** Lines such as `Proc-Type: …` stand before the data. */
  readonly hasHeaders: boolean;
  readonly bytes: Uint8Array;
}

/** The blocks of a text; what is around them is passed over, blocks that are not base64 are left out. */
export function parsePem(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  for (let at = 0, end = -1; ;) {
    const begin = text.indexOf(BEGIN_MARK, at);
    const label = begin === -1 ? -1 : text.indexOf(DASHES, begin + BEGIN_MARK.length);
    if (label === -1) return blocks;
    at = label + DASHES.length;
    // Looked for once per end, however many beginnings stand before it.
    if (end < at) end = text.indexOf(END_MARK, at);
    if (end === -1) return blocks;
    const type = text.slice(begin + BEGIN_MARK.length, label);
    if (!text.startsWith(`${type}${DASHES}`, end + END_MARK.length)) continue;
    const block = decodeBlock(type, text.slice(at, end));
    if (block !== undefined) blocks.push(block);
    at = end + END_MARK.length;
  }
}

const DASHES = '-----';
const BEGIN_MARK = '-----BEGIN ';
const END_MARK = '-----END ';

function decodeBlock(type: string, body: string): PemBlock | undefined {
  const lines = body.split('\n');
  const data = lines.filter((line) => !line.includes(':'));
  const base64 = data.join('').replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64) || base64.length % 4 !== 0) return undefined;
  return { type, hasHeaders: data.length < lines.length, bytes: fromBase64(base64) };
}

function fromBase64(text: string): Uint8Array {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** A request taken apart. Byte ranges are views of the whole. */
interface CertificateRequestParts {
  /** The signed part. */
  readonly info: Uint8Array;
  /** The subject as it stands there. */
  readonly subject: Uint8Array;
  /** The public key, as SPKI. */
  readonly publicKey: Uint8Array;
  readonly signatureAlgorithm: string;
  readonly signature: Uint8Array;
  readonly commonName: string;
  readonly organizations: readonly string[];
}

interface Element {
  readonly tag: number;
  readonly whole: Uint8Array;
  readonly content: Uint8Array;
}

/** Reads the DER of a request; undefined when it is none. */
export function parseCertificateRequest(der: Uint8Array): CertificateRequestParts | undefined {
  const outer = readElements(der);
  const [info, algorithm, signature] = outer?.length === 1 && outer[0]?.tag === 0x30 ? readElements(outer[0].content) ?? [] : [];
  const [version, subject, publicKey] = info?.tag === 0x30 ? readElements(info.content) ?? [] : [];
  const [oid] = algorithm?.tag === 0x30 ? readElements(algorithm.content) ?? [] : [];
  if (info === undefined || version?.tag !== 0x02 || subject?.tag !== 0x30 || publicKey?.tag !== 0x30) return undefined;
  if (oid?.tag !== 0x06 || signature?.tag !== 0x03) return undefined;
  const names = readNames(subject);
  if (names === undefined) return undefined;
  const values = (wanted: string) => names.filter(([name]) => name === wanted).map(([, value]) => value);
  return {
    info: info.whole, subject: subject.whole, publicKey: publicKey.whole, signatureAlgorithm: formatOid(oid.content), signature: signature.content.subarray(1),
    commonName: values('2.5.4.3').at(-1) ?? '', organizations: values('2.5.4.10'),
  };
}

/** Whether an X.509 certificate is that of an authority (basic constraints); undefined when the DER is none. */
export function isAuthorityCertificate(der: Uint8Array): boolean | undefined {
  const outer = readElements(der);
  const [signed, algorithm, signature] = outer?.length === 1 && outer[0]?.tag === 0x30 ? readElements(outer[0].content) ?? [] : [];
  if (signed?.tag !== 0x30 || algorithm?.tag !== 0x30 || signature?.tag !== 0x03) return undefined;
  const fields = readElements(signed.content) ?? [];
  // After the version, where there is one: serial number, algorithm, issuer, validity, subject, key.
  const rest = fields[0]?.tag === 0xa0 ? fields.slice(1) : fields;
  if (rest.length < 6 || rest.slice(0, 6).some(({ tag }, index) => tag !== (index === 0 ? 0x02 : 0x30))) return undefined;
  const extensions = rest.find(({ tag }) => tag === 0xa3);
  const [list] = extensions === undefined ? [] : readElements(extensions.content) ?? [];
  for (const extension of list === undefined ? [] : readElements(list.content) ?? []) {
    const [oid, ...values] = readElements(extension.content) ?? [];
    if (oid?.tag !== 0x06 || formatOid(oid.content) !== BASIC_CONSTRAINTS) continue;
    const [constraints] = readElements(values.at(-1)?.content ?? new Uint8Array()) ?? [];
    const [isAuthority] = constraints?.tag === 0x30 ? readElements(constraints.content) ?? [] : [];
    return isAuthority?.tag === 0x01 && isAuthority.content[0] !== 0;
  }
  return false;
}

const BASIC_CONSTRAINTS = '2.5.29.19';

/** The elements of a run of bytes; undefined when they do not fill it exactly. */
function readElements(bytes: Uint8Array): Element[] | undefined {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const element = readElement(bytes, at);
    if (element === undefined) return undefined;
    elements.push(element);
    at += element.whole.length;
  }
  return elements;
}

function readElement(bytes: Uint8Array, start: number): Element | undefined {
  const [tag, first] = [bytes[start], bytes[start + 1]];
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  let [content, length] = [start + 2, first];
  if (first >= 0x80) {
    const width = first & 0x7f;
    if (width === 0 || width > 4) return undefined;
    length = 0;
    for (let index = 0; index < width; index += 1) length = length * 256 + (bytes[content + index] ?? 0);
    content += width;
  }
  const end = content + length;
  return end > bytes.length ? undefined : { tag, whole: bytes.subarray(start, end), content: bytes.subarray(content, end) };
}

function readNames(subject: Element): (readonly [string, string])[] | undefined {
  const names: (readonly [string, string])[] = [];
  for (const set of readElements(subject.content) ?? []) {
    for (const attribute of readElements(set.content) ?? []) {
      const [oid, value] = readElements(attribute.content) ?? [];
      if (oid?.tag !== 0x06 || value === undefined) return undefined;
      names.push([formatOid(oid.content), decodeText(value)]);
    }
  }
  return names;
}

/** BMPString is UTF-16; the other kinds of text that names are written in fit into UTF-8. */
function decodeText({ tag, content }: Element): string {
  if (tag !== 0x1e) return new TextDecoder().decode(content);
  let text = '';
  for (let index = 0; index + 1 < content.length; index += 2) text += String.fromCharCode((content[index] as number) * 256 + (content[index + 1] as number));
  return text;
}

function formatOid(content: Uint8Array): string {
  const arcs: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    if (arcs.length === 0) {
      const first = Math.min(2, Math.floor(value / 40));
      arcs.push(first, value - first * 40);
    } else arcs.push(value);
    value = 0;
  }
  return arcs.join('.');
}
