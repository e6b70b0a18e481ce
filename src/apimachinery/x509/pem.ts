// PEM blocks: their types, their headers and the bytes in them.

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
