// Watches over WebSocket (RFC 6455) for clients that cannot read a response while it comes in: one message per event, text for JSON, binary
// for protobuf (or base64 text, when the client asks for that). What the client sends is read for pings and its goodbye only. A token may come
// as a subprotocol, since browsers let nobody set headers. Unlike the reference, a missing Origin is not refused: it protects browsers only.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Response, Sink } from '../../endpoints/index.ts';
import type { HttpExchange } from './exchange.ts';
import { waitForDrain } from './write-response.ts';

const acceptSalt = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const tokenPrefix = 'base64url.bearer.authorization.k8s.io.';
const base64Protocol = 'base64.binary.k8s.io';
/** Largest frame that a client may send; watches expect none with content. */
const maxIncomingBytes = 64 * 1024;
const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const normalClosure = 1000;
const protocolError = 1002;
const tooBig = 1009;

/** What a client that wants a WebSocket says. */
export interface WebSocketRequest {
  readonly key: string;
  /** Subprotocols without the token. */
  readonly protocols: readonly string[];
  /** The token among the subprotocols. */
  readonly token: string | undefined;
}

/** What is left of a request that asked for another protocol: its connection, and the handshake if it asked for a WebSocket. */
export interface Upgrade {
  readonly request: WebSocketRequest | undefined;
  readonly socket: Socket;
  readonly head: Buffer;
}

const splitList = (value: string | undefined): string[] => (value ?? '').split(',').map((part) => part.trim()).filter((part) => part !== '');

/** Reads the handshake of a request; undefined when it is none. */
export function readWebSocketRequest({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): WebSocketRequest | undefined {
  const upgrades = splitList(headers.upgrade?.toLowerCase()).includes('websocket') && splitList(headers.connection?.toLowerCase()).includes('upgrade');
  const key = headers['sec-websocket-key'] ?? '';
  if (!upgrades || method !== 'GET' || headers['sec-websocket-version'] !== '13' || Buffer.from(key, 'base64').length !== 16) return undefined;
  const all = splitList(headers['sec-websocket-protocol']);
  const protocols = all.filter((protocol) => !protocol.startsWith(tokenPrefix));
  return { key, protocols, token: readToken(all, protocols) };
}

/** Upstream takes a token only when there is exactly one, well-formed, and a protocol besides that can be agreed on. */
function readToken(all: readonly string[], protocols: readonly string[]): string | undefined {
  const tokens = all.filter((protocol) => protocol.startsWith(tokenPrefix));
  if (tokens.length !== 1 || protocols.length === 0) return undefined;
  const encoded = (tokens[0] as string).slice(tokenPrefix.length);
  const bytes = Buffer.from(encoded, 'base64url');
  const token = bytes.toString('utf8');
  return bytes.toString('base64url') === encoded && Buffer.from(token).equals(bytes) && token !== '' ? token : undefined;
}

/** One message as a frame; servers do not mask. */
function encodeFrame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const head = length < 126 ? Buffer.of(0x80 | opcode, length) : Buffer.alloc(length < 65_536 ? 4 : 10);
  if (length >= 126) {
    head[0] = 0x80 | opcode;
    head[1] = length < 65_536 ? 126 : 127;
    if (length < 65_536) head.writeUInt16BE(length, 2);
    else head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, payload]);
}

const encodeClose = (code: number): Buffer => encodeFrame(opcodes.close, Buffer.of(code >> 8, code & 0xff));

/** The events of a piece of a JSON stream: its lines, each with its end. */
function* splitLines(chunk: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < chunk.length;) {
    const newline = chunk.indexOf(0x0a, start);
    const end = newline < 0 ? chunk.length : newline + 1;
    yield chunk.subarray(start, end);
    start = end;
  }
}

/** The events of a piece of a protobuf stream, without the lengths before them. */
function* splitMessages(chunk: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  for (let start = 0; start + 4 <= chunk.length;) {
    const length = view.getUint32(start);
    yield chunk.subarray(start + 4, start + 4 + length);
    start += 4 + length;
  }
}

/** Reads what a client sends: answers pings, tells of its close, throws content away. */
class IncomingFrames {
  readonly #socket: Socket;
  readonly #over: (code: number) => void;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(socket: Socket, over: (code: number) => void) {
    this.#socket = socket;
    this.#over = over;
  }

  receive(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    for (let length = this.#take(); length > 0; length = this.#take()) this.#buffer = this.#buffer.subarray(length);
  }

  /** Handles the first frame, if it is whole; answers its length. */
  #take(): number {
    const buffer = this.#buffer;
    if (buffer.length < 2) return 0;
    const [first, second] = [buffer[0] as number, buffer[1] as number];
    // Clients must mask, and none of the reserved bits was agreed on.
    if ((second & 0x80) === 0 || (first & 0x70) !== 0) return this.#end(protocolError);
    const short = second & 0x7f;
    if (short === 127) return this.#end(tooBig);
    const start = short === 126 ? 8 : 6;
    if (buffer.length < start) return 0;
    const size = short === 126 ? buffer.readUInt16BE(2) : short;
    if (size > maxIncomingBytes) return this.#end(tooBig);
    if (buffer.length < start + size) return 0;
    this.#handle(first & 0x0f, { mask: buffer.subarray(start - 4, start), payload: buffer.subarray(start, start + size) });
    return start + size;
  }

  #handle(opcode: number, { mask, payload }: { mask: Buffer; payload: Buffer }): void {
    if (opcode === opcodes.close) this.#end(normalClosure);
    else if (opcode === opcodes.ping) this.#socket.write(encodeFrame(opcodes.pong, payload.map((byte, i) => byte ^ (mask[i & 3] as number))));
  }

  #end(code: number): number {
    this.#over(code);
    return -1;
  }
}

/** True for answers that go to a WebSocket: streams of events. */
export function isEventStream(exchange: HttpExchange, { status, body }: Response): boolean {
  return status === 200 && typeof body === 'function' && exchange.info.verb === 'watch';
}

function handshake({ key, protocols }: WebSocketRequest, { auditId }: HttpExchange, headers: Response['headers']): string {
  const accept = createHash('sha1').update(key + acceptSalt).digest('base64');
  const chosen = protocols.includes(base64Protocol) ? base64Protocol : protocols[0];
  return [
    'HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`,
    `Content-Type: ${String(headers['content-type'])}`,
    `Audit-Id: ${auditId.replace(/[^\x20-\x7e]/g, '')}`, ...(chosen === undefined ? [] : [`Sec-WebSocket-Protocol: ${chosen}`]), '', '',
  ].join('\r\n');
}

function createEncoder({ protocols }: WebSocketRequest, headers: Response['headers']): (chunk: Uint8Array) => Buffer {
  if (!String(headers['content-type']).includes('protobuf')) {
    return (chunk) => Buffer.concat([...splitLines(chunk)].map((line) => encodeFrame(opcodes.text, line)));
  }
  const encode = protocols.includes(base64Protocol)
    ? (message: Uint8Array) => encodeFrame(opcodes.text, Buffer.from(Buffer.from(message).toString('base64')))
    : (message: Uint8Array) => encodeFrame(opcodes.binary, message);
  return (chunk) => Buffer.concat([...splitMessages(chunk)].map(encode));
}

/** Answers the handshake and sends the stream as messages; resolves when the stream is over and the goodbye is said. */
export async function writeWebSocket(exchange: HttpExchange, response: Response, { request, socket, head }: {
  readonly request: WebSocketRequest; readonly socket: Socket; readonly head: Buffer;
}): Promise<void> {
  const encode = createEncoder(request, response.headers);
  let closing = false;
  const over = (code: number): void => {
    if (closing) return;
    closing = true;
    socket.end(encodeClose(code));
    exchange.abort('the client closed the WebSocket');
  };
  const incoming = new IncomingFrames(socket, over);
  socket.write(handshake(request, exchange, response.headers));
  if (head.length > 0) incoming.receive(head);
  socket.on('data', (chunk: Buffer) => closing || incoming.receive(chunk));
  socket.on('end', () => over(normalClosure));
  socket.resume();
  const sink: Sink = {
    write: (chunk) => !closing && !socket.destroyed && socket.write(encode(chunk)),
    drained: () => waitForDrain(socket, exchange.signal),
    get signal() {
      return exchange.signal;
    },
  };
  await (response.body as (sink: Sink) => Promise<void>)(sink);
  over(normalClosure);
}
