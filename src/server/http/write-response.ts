// Writes a Response to a Wire: whole bytes, pieces gathered into batches, or a stream with back-pressure.
// Batches with a wait for the drain in between keep a 20 MB list from holding the event loop for more than a few milliseconds, and keep little in memory
// for a client that does not read.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { type MaybePromise, partOf } from '../../base/index.ts';
import type { Body, Response, Sink } from '../../endpoints/index.ts';
import type { HttpExchange } from './exchange.ts';

const BATCH_BYTES = 128 * 1024;

/**
 * Writes all of `response`: in this turn when it is small and there, else it resolves when the last byte is handed to the transport or the
 * client is gone. Rejects when a streaming body does.
 */
export function writeResponse(exchange: HttpExchange, response: Response): MaybePromise<void> {
  const { wire } = exchange;
  const body = joinSmall(response.body);
  const whole = body instanceof Uint8Array;
  const headers = listHeaders(exchange, response.headers);
  if (whole && response.headers['content-length'] === undefined && allowsBody(response.status)) headers.push('content-length', String(body.length));
  const bodyless = exchange.method === 'HEAD' || !allowsBody(response.status) || (whole && body.length === 0);
  wire.start(response.status, headers, bodyless);
  if (bodyless) return;
  if (!whole || body.length > BATCH_BYTES) return writeLong(exchange, body);
  wire.finish(body);
  exchange.unreadSinceMs = exchange.clock.monotonicMs();
}

async function writeLong(exchange: HttpExchange, body: Body): Promise<void> {
  const { wire } = exchange;
  const { output } = wire;
  wire.announce?.();
  await writeBody(exchange, body);
  if (!output.destroyed) output.end();
  exchange.unreadSinceMs = exchange.clock.monotonicMs();
}

/**
 * Names and values in turn, which Node writes without making objects of them. Every answer carries Audit-Id (the request's, if it had one),
 * those of flow control, and Cache-Control whether or not the handler chose one.
 */
function listHeaders({ auditId, flow }: HttpExchange, headers: Response['headers']): string[] {
  const list = ['audit-id', auditId];
  if (flow !== undefined) for (const name in flow.headers) list.push(name, flow.headers[name] as string);
  if (headers['cache-control'] === undefined) list.push('cache-control', 'no-cache, private');
  for (const name in headers) {
    const value = headers[name] as string | readonly string[];
    if (typeof value === 'string') list.push(name, value);
    else for (const each of value) list.push(name, each);
  }
  return list;
}

/** Pieces that make a small body leave in one write, with their length. */
function joinSmall(body: Body): Body {
  if (body instanceof Uint8Array || typeof body === 'function') return body;
  if (body.length === 1) return body[0] as Uint8Array;
  let size = 0;
  for (const piece of body) size += piece.length;
  return size <= BATCH_BYTES ? Buffer.concat(body, size) : body;
}

const allowsBody = (status: number): boolean => status !== 204 && status !== 304;

async function writeBody(exchange: HttpExchange, body: Body): Promise<void> {
  const sink = createSink(exchange);
  if (body instanceof Uint8Array) await writePieces(sink, [body]);
  else if (typeof body === 'function') await writeStream(exchange, body(sink));
  else await writePieces(sink, body);
}

/** A stream that has nothing to say yet still shows its status and headers: clients wait for them. */
function writeStream({ wire: { output } }: HttpExchange, stream: Promise<void>): Promise<void> {
  if ('flushHeaders' in output && !output.destroyed) (output as ServerResponse).flushHeaders();
  return stream;
}

async function writePieces(sink: Sink, pieces: readonly Uint8Array[]): Promise<void> {
  let batch: Uint8Array[] = [];
  let size = 0;
  const flush = async () => {
    const bytes = batch.length === 1 ? (batch[0] as Uint8Array) : Buffer.concat(batch, size);
    batch = [];
    size = 0;
    if (!sink.write(bytes)) await sink.drained();
  };
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += BATCH_BYTES) {
      if (sink.signal.aborted) return;
      const part = partOf(piece, start, Math.min(start + BATCH_BYTES, piece.length));
      if (size > 0 && size + part.length > BATCH_BYTES) await flush();
      batch.push(part);
      size += part.length;
    }
  }
  if (size > 0) await flush();
}

/** Chunks of HTTP/1.1 around pieces of streams: one event is sent to many watches, and making its chunk takes 1.5 µs. */
const framed = new WeakMap<Uint8Array, Buffer>();

function frameChunk(piece: Uint8Array): Buffer {
  let chunk = framed.get(piece);
  if (chunk === undefined) framed.set(piece, (chunk = makeChunk(piece)));
  return chunk;
}

function makeChunk(piece: Uint8Array): Buffer {
  const head = `${piece.length.toString(16)}\r\n`;
  const chunk = Buffer.allocUnsafeSlow(head.length + piece.length + 2);
  chunk.write(head, 'latin1');
  chunk.set(piece, head.length);
  chunk.write('\r\n', head.length + piece.length, 'latin1');
  return chunk;
}

/** The connection, where a stream in chunks may be written to it past the response: its head is out and it is this response's turn. */
function directSocket({ chunkedEncoding, headersSent, socket, writableEnded }: ServerResponse): Socket | undefined {
  return chunkedEncoding && headersSent && socket !== null && !writableEnded ? socket : undefined;
}

/** The receiver of a body; its signal is made when it is asked for. */
export class ExchangeSink implements Sink {
  readonly write: Sink['write'];
  readonly drained: Sink['drained'];
  readonly #exchange: HttpExchange;

  constructor(exchange: HttpExchange, { write, drained }: Pick<Sink, 'write' | 'drained'>) {
    this.#exchange = exchange;
    this.write = write;
    this.drained = drained;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}

/** For watches: one write per event instead of three. Nothing else is written to the connection before the response has ended. */
function createDirectSink(exchange: HttpExchange, response: ServerResponse): Sink {
  // `headersSent` says that they are made, not that they are out.
  response.flushHeaders();
  let socket: Socket | undefined;
  const write = (piece: Uint8Array): boolean => {
    socket ??= directSocket(response);
    if (response.destroyed || piece.length === 0) return !response.destroyed;
    return socket === undefined ? response.write(piece) : socket.write(frameChunk(piece));
  };
  return new ExchangeSink(exchange, { write, drained: () => waitForDrain(socket ?? response, exchange.signal) });
}

function createSink(exchange: HttpExchange): Sink {
  const { output } = exchange.wire;
  if ('flushHeaders' in output && exchange.info.verb === 'watch') return createDirectSink(exchange, output as ServerResponse);
  return new ExchangeSink(exchange, { write: (chunk) => !output.destroyed && output.write(chunk), drained: () => waitForReader(exchange) });
}

async function waitForReader(exchange: HttpExchange): Promise<void> {
  exchange.unreadSinceMs = exchange.clock.monotonicMs();
  await waitForDrain(exchange.wire.output, exchange.signal);
  exchange.unreadSinceMs = undefined;
}

/** Resolves when the output takes more, is gone or has no reader. */
export function waitForDrain(output: Writable, signal: AbortSignal): Promise<void> {
  if (output.destroyed || signal.aborted || !output.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      output.off('drain', done);
      output.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    output.once('drain', done);
    output.once('close', done);
    signal.addEventListener('abort', done, { once: true });
  });
}
