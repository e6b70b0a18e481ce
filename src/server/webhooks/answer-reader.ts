// Answers in HTTP/1.1 as they come in over a connection: head, and a body by its length, in chunks, or up to the end of the connection (RFC 9112).
// Strict where the RFC says that an answer is invalid, and bounded.
import type { IncomingHttpHeaders } from 'node:http';

/** Largest head, and largest line of a chunked body. */
const MAX_HEAD_BYTES = 64 * 1024;
const MAX_LINE_BYTES = 1024;

/** An answer whose bytes are no HTTP, worded as Go words it. */
const malformed = (what: string, text: string): Error =>
  new Error(`net/http: HTTP/1.x transport connection broken: ${what} ${JSON.stringify(text.slice(0, 64))}`);

const noBytes = Buffer.alloc(0);

/** A body in chunks: what comes next of it, and how much is left of the data of the chunk at hand. */
interface Chunked {
  readonly type: 'chunked';
  state: 'size' | 'data' | 'end of data' | 'trailer';
  left: number;
}

/** How the body of an answer ends: with its length, with its last chunk, or with the connection. */
type Framing = Chunked | { readonly type: 'length'; left: number } | { readonly type: 'close' };

function parseHeaders(lines: readonly string[]): IncomingHttpHeaders {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (name === '' || /\s/.test(name)) throw malformed('malformed MIME header line:', line);
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

/** Reads one answer; throws for bytes that are none, and for a body that is larger than `limitBytes`. */
export class AnswerReader {
  readonly #limitBytes: number;
  readonly #parts: Buffer[] = [];
  #size = 0;
  /** Bytes that are no whole head or line yet. */
  #rest: Buffer = noBytes;
  #framing: Framing | undefined;
  status = 0;
  headers: IncomingHttpHeaders = {};
  /** Whether the connection can be used again after this answer. */
  isKept = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Whether anything of the answer has come. */
  get hasBegun(): boolean {
    return this.#framing !== undefined || this.#rest.length > 0;
  }

  /** The body, once the answer is complete. */
  get body(): Buffer {
    return this.#parts.length === 1 ? this.#parts[0] as Buffer : Buffer.concat(this.#parts);
  }

  /** Takes bytes; whether the answer is complete. A connection that brings more than that is not kept. */
  take(chunk: Buffer): boolean {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = noBytes;
    while (this.#framing === undefined) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end > MAX_HEAD_BYTES || (end === -1 && bytes.length > MAX_HEAD_BYTES)) throw malformed('too large a head', '');
      if (end === -1) {
        this.#rest = bytes;
        return false;
      }
      this.#readHead(bytes.toString('latin1', 0, end));
      bytes = bytes.subarray(end + 4);
    }
    return this.#takeBody(bytes, this.#framing);
  }

  /** Whether the end of the connection completes the answer. */
  takeEnd(): boolean {
    return this.#framing?.type === 'close';
  }

  #readHead(head: string): void {
    const [first = '', ...lines] = head.split('\r\n');
    const [, minor, digits] = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(first) ?? [];
    if (minor === undefined) throw malformed('malformed HTTP response', first);
    const status = Number(digits);
    const headers = parseHeaders(lines);
    // Interim answers are passed over; a change of protocol was not asked for.
    if (status === 101) throw malformed('unexpected protocol', first);
    if (status < 200) return;
    [this.status, this.headers] = [status, headers];
    const connection = (headers.connection ?? '').toLowerCase();
    this.#framing = this.#findFraming(headers);
    this.isKept = this.#framing.type !== 'close' && (minor === '1' ? !connection.includes('close') : connection.includes('keep-alive'));
  }

  #findFraming(headers: IncomingHttpHeaders): Framing {
    const coding = headers['transfer-encoding']?.toLowerCase();
    const length = headers['content-length'];
    if (this.status === 204 || this.status === 304) return { type: 'length', left: 0 };
    if (coding !== undefined && coding !== 'chunked') throw malformed('unsupported transfer encoding:', coding);
    if (coding !== undefined) return { type: 'chunked', state: 'size', left: 0 };
    if (length === undefined) return { type: 'close' };
    if (!/^\d{1,15}$/.test(length)) throw malformed('bad Content-Length', length);
    return { type: 'length', left: Number(length) };
  }

  #takeBody(bytes: Buffer, framing: Framing): boolean {
    if (framing.type === 'chunked') return this.#takeChunks(bytes, framing);
    if (framing.type === 'close') {
      this.#add(bytes);
      return false;
    }
    if (bytes.length > framing.left) this.isKept = false;
    const part = bytes.length > framing.left ? bytes.subarray(0, framing.left) : bytes;
    this.#add(part);
    framing.left -= part.length;
    return framing.left === 0;
  }

  #takeChunks(bytes: Buffer, framing: Chunked): boolean {
    for (let at = 0; at < bytes.length;) {
      if (framing.state === 'data') {
        const part = bytes.subarray(at, at + framing.left);
        this.#add(part);
        [at, framing.left] = [at + part.length, framing.left - part.length];
        if (framing.left === 0) framing.state = 'end of data';
        continue;
      }
      const end = bytes.indexOf('\r\n', at);
      if ((end === -1 ? bytes.length : end) - at > MAX_LINE_BYTES) throw malformed('header line too long', '');
      if (end === -1) {
        this.#rest = bytes.subarray(at);
        return false;
      }
      const line = bytes.toString('latin1', at, end);
      at = end + 2;
      if (!this.#takeLine(line, framing)) continue;
      if (at < bytes.length) this.isKept = false;
      return true;
    }
    return false;
  }

  /** Whether this line of a chunked body is its last. */
  #takeLine(line: string, framing: Chunked): boolean {
    if (framing.state === 'trailer') return line === '';
    if (framing.state === 'end of data') {
      if (line !== '') throw malformed('malformed chunked encoding', line);
      framing.state = 'size';
      return false;
    }
    const [, digits] = /^([0-9a-f]{1,8})(?:[ \t;]|$)/i.exec(line) ?? [];
    if (digits === undefined) throw malformed('invalid byte in chunk length', line);
    framing.left = Number.parseInt(digits, 16);
    framing.state = framing.left === 0 ? 'trailer' : 'data';
    return false;
  }

  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#size += part.length;
    if (this.#size > this.#limitBytes) throw new Error(`the answer is larger than ${this.#limitBytes} bytes`);
    this.#parts.push(part);
  }
}
