// Writes a Response to a Wire: whole bytes, pieces gathered into batches, or a stream with back-pressure.
// Batches of 512 KiB with a wait for the drain in between keep a 20 MB list from holding the event loop for more than a few milliseconds.
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Body, Response, Sink } from '../endpoints/index.ts';
import type { HttpExchange } from './exchange.ts';

const batchBytes = 512 * 1024;

/** Writes all of `response`; resolves when the last byte is handed to the transport or the client is gone. Rejects when a streaming body does. */
export async function writeResponse(exchange: HttpExchange, response: Response): Promise<void> {
  const { wire } = exchange;
  const body = joinSmall(response.body);
  const whole = body instanceof Uint8Array;
  const headers = whole && response.headers['content-length'] === undefined && allowsBody(response.status)
    ? { ...response.headers, 'content-length': String(body.length) } : response.headers;
  const bodyless = exchange.method === 'HEAD' || !allowsBody(response.status) || (whole && body.length === 0);
  wire.start(response.status, headers, bodyless);
  if (bodyless) return;
  if (whole && body.length <= batchBytes) {
    wire.output.end(body);
    return;
  }
  await writeBody(exchange, body);
  if (!wire.output.destroyed) wire.output.end();
}

/** Pieces that make a small body leave in one write, with their length. */
function joinSmall(body: Body): Body {
  if (body instanceof Uint8Array || typeof body === 'function') return body;
  if (body.length === 1) return body[0] as Uint8Array;
  let size = 0;
  for (const piece of body) size += piece.length;
  return size <= batchBytes ? Buffer.concat(body, size) : body;
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
    for (let start = 0; start < piece.length; start += batchBytes) {
      if (sink.signal.aborted) return;
      const part = piece.length <= batchBytes ? piece : piece.subarray(start, start + batchBytes);
      if (size > 0 && size + part.length > batchBytes) await flush();
      batch.push(part);
      size += part.length;
    }
  }
  if (size > 0) await flush();
}

function createSink(exchange: HttpExchange): Sink {
  const { output } = exchange.wire;
  return {
    write: (chunk) => !output.destroyed && output.write(chunk),
    drained: () => waitForDrain(output, exchange.signal),
    get signal() {
      return exchange.signal;
    },
  };
}

function waitForDrain(output: Writable, signal: AbortSignal): Promise<void> {
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
