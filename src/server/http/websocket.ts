// Watches over WebSocket for clients that cannot read a response while it comes in: one message per event, text for JSON, binary for protobuf
// (or base64 text, when the client asks for that). Messages of the client are read and thrown away. A token may come as a subprotocol, since
// browsers cannot set headers. Unlike the reference, a missing Origin is not refused: the check protects browsers only.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Response, type Sink, credentialProtocols, isCredentialProtocol } from '../../endpoints/index.ts';
import type { HttpExchange } from './exchange.ts';
import { type WebSocketConnection, acceptWebSocket } from './websocket-connection.ts';
import { ExchangeSink, waitForDrain } from './write-response.ts';

const BASE64_PROTOCOL = 'base64.binary.k8s.io';
/** Largest message that a client may send; watches expect none with content. */
const MAX_INCOMING_BYTES = 64 * 1024;

/** What a client that wants a WebSocket says. */
export interface WebSocketRequest {
  readonly key: string;
  /** Subprotocols without the credentials. */
  readonly protocols: readonly string[];
  /** The token among the subprotocols. */
  readonly token: string | undefined;
  /** The key of a session of the console among them. */
  readonly session: string | undefined;
}

/** A request for another protocol: its connection, and the handshake if it asked for a WebSocket. */
export interface Upgrade {
  readonly request: WebSocketRequest | undefined;
  readonly incoming: IncomingMessage;
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
  const protocols = all.filter((protocol) => !isCredentialProtocol(protocol));
  const sessions = all.filter((protocol) => protocol.startsWith(credentialProtocols.session));
  const session = sessions.length === 1 && protocols.length > 0 ? sessions[0]?.slice(credentialProtocols.session.length) : undefined;
  return { key, protocols, token: readToken(all, protocols), session };
}

/** Upstream takes a token only when there is exactly one, well-formed, and a protocol besides that can be agreed on. */
function readToken(all: readonly string[], protocols: readonly string[]): string | undefined {
  const tokens = all.filter((protocol) => protocol.startsWith(credentialProtocols.token));
  if (tokens.length !== 1 || protocols.length === 0) return undefined;
  const encoded = (tokens[0] as string).slice(credentialProtocols.token.length);
  const bytes = Buffer.from(encoded, 'base64url');
  const token = bytes.toString('utf8');
  return bytes.toString('base64url') === encoded && Buffer.from(token).equals(bytes) && token !== '' ? token : undefined;
}

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

/** True for answers that a WebSocket is sent: streams of events, and logs. */
export function isEventStream(exchange: HttpExchange, { status, body }: Response): boolean {
  return status === 200 && typeof body === 'function' && (exchange.info.verb === 'watch' || exchange.info.subresource === 'log');
}

/** Sends the events of one piece of a stream, each as a message; a piece of a log is one. */
function createSender(connection: WebSocketConnection, { protocols }: WebSocketRequest, headers: Response['headers']): (chunk: Uint8Array) => void {
  const type = String(headers['content-type']);
  if (!type.includes('protobuf') && type !== 'text/plain') {
    return (chunk) => {
      for (const line of splitLines(chunk)) connection.send(line, 'text');
    };
  }
  const isBase64 = protocols.includes(BASE64_PROTOCOL);
  return (chunk) => {
    for (const message of type === 'text/plain' ? [chunk] : splitMessages(chunk)) {
      if (isBase64) connection.send(Buffer.from(Buffer.from(message).toString('base64')), 'text');
      else connection.send(message, 'binary');
    }
  };
}

/** Answers the handshake and sends the stream as messages; resolves when the stream is over and the close frame is sent. */
export async function writeWebSocket(exchange: HttpExchange, response: Response, upgrade: Upgrade & { readonly request: WebSocketRequest }): Promise<void> {
  const { protocols } = upgrade.request;
  const connection = await acceptWebSocket(upgrade, {
    protocol: protocols.includes(BASE64_PROTOCOL) ? BASE64_PROTOCOL : protocols[0], maxMessageBytes: MAX_INCOMING_BYTES,
    headers: [`Content-Type: ${String(response.headers['content-type'])}`, `Audit-Id: ${exchange.auditId.replace(/[^\x20-\x7e]/g, '')}`],
    onClose: () => exchange.abort('the client closed the WebSocket'), clock: exchange.clock,
  });
  const send = createSender(connection, upgrade.request, response.headers);
  const write = (chunk: Uint8Array): boolean => {
    send(chunk);
    return connection.isReady();
  };
  const sink = new ExchangeSink(exchange, { write, drained: () => waitForDrain(upgrade.socket, exchange.signal) });
  await (response.body as (sink: Sink) => Promise<void>)(sink);
  connection.close();
}
