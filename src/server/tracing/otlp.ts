// Spans to a collector by OTLP over gRPC (opentelemetry.proto.collector.trace.v1.TraceService), by the field numbers of the published messages. The SDK
// gathers them in batches; a batch that the collector does not take is dropped, and the log says so once until one is taken again.
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Clock } from '../../base/index.ts';
import { Channel, MessageReader, MessageWriter } from '../../grpc/index.ts';
import { type Logger, describeError } from '../observability/logger.ts';
import type { TracingSettings } from './configuration.ts';

interface OtlpExporterOptions extends Pick<TracingSettings, 'collector'> {
  readonly clock: Clock;
  readonly logger: Logger;
}

const METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const TIMEOUT_MS = 10_000;

/** Sends batches of spans to one collector. */
export class OtlpExporter implements SpanExporter {
  readonly #channel: Channel;
  readonly #logger: Logger;
  #isFailing = false;

  constructor({ collector, clock, logger }: OtlpExporterOptions) {
    const isSocket = 'socketPath' in collector;
    this.#channel = new Channel({ url: `http://${isSocket ? 'localhost' : collector.host}`, ...(isSocket && { socketPath: collector.socketPath }), clock });
    this.#logger = logger;
  }

  export(spans: readonly ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#channel.call(METHOD, encodeSpans(spans), TIMEOUT_MS).then((answer) => {
      this.#isFailing = false;
      const rejected = readRejected(answer);
      if (rejected > 0) this.#logger.warn('the collector has refused spans', { spans: rejected });
      done({ code: ExportResultCode.SUCCESS });
    }, (error: Error) => {
      if (!this.#isFailing) this.#logger.warn('spans cannot be sent to the collector', describeError(error));
      this.#isFailing = true;
      done({ code: ExportResultCode.FAILED, error });
    });
  }

  /** The SDK has sent what it had. */
  async shutdown(): Promise<void> {}

  /** Ends the connection. */
  close(): void {
    this.#channel.close();
  }
}

/** ExportTraceServiceResponse: partial_success 1 {rejected_spans 1}. */
function readRejected(answer: Buffer): number {
  const reader = new MessageReader(answer);
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== 1) reader.skip();
    else {
      const partial = reader.nested();
      for (let inner = partial.next(); inner !== 0; inner = partial.next()) {
        if (inner === 1) return partial.number();
        partial.skip();
      }
    }
  }
  return 0;
}

/** ExportTraceServiceRequest of spans that one provider made: resource_spans 1 {resource 1 {attributes 1}, scope_spans 2 {scope 1 {name 1}, spans 2}}. */
export function encodeSpans(spans: readonly ReadableSpan[]): Buffer {
  const writer = new MessageWriter(1024 * Math.max(spans.length, 1));
  const [first] = spans;
  if (first === undefined) return writer.finish();
  return writer.message(1, (all) => {
    all.message(1, (resource) => writeAttributes(resource, 1, first.resource.attributes));
    all.message(2, (scoped) => {
      scoped.message(1, (scope) => void scope.bytes(1, first.instrumentationScope.name));
      for (const span of spans) scoped.message(2, (each) => writeSpan(each, span));
    });
  }).finish();
}

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const nanosOf = ([seconds, nanos]: readonly [number, number]): bigint => BigInt(seconds) * 1_000_000_000n + BigInt(Math.round(nanos));

/**
 * Span: trace_id 1, span_id 2, trace_state 3, parent_span_id 4, name 5, kind 6, times 7 and 8, attributes 9, dropped 10, events 11, dropped 12, links 13,
 * dropped 14, status 15, flags 16. Kinds are numbered from 1 where the SDK counts from 0.
 */
function writeSpan(writer: MessageWriter, span: ReadableSpan): void {
  const { traceId, spanId, traceState, traceFlags } = span.spanContext();
  writer.bytes(1, hex(traceId)).bytes(2, hex(spanId)).bytes(3, traceState?.serialize() ?? '').bytes(4, hex(span.parentSpanContext?.spanId ?? ''));
  writer.bytes(5, span.name).number(6, span.kind + 1).fixed64(7, nanosOf(span.startTime)).fixed64(8, nanosOf(span.endTime));
  writeAttributes(writer, 9, span.attributes);
  writer.number(10, span.droppedAttributesCount);
  for (const { time, name, attributes = {}, droppedAttributesCount = 0 } of span.events) {
    writer.message(11, (event) => {
      event.fixed64(1, nanosOf(time)).bytes(2, name);
      writeAttributes(event, 3, attributes);
      event.number(4, droppedAttributesCount);
    });
  }
  writer.number(12, span.droppedEventsCount);
  for (const { context } of span.links) writer.message(13, (link) => void link.bytes(1, hex(context.traceId)).bytes(2, hex(context.spanId)));
  writer.number(14, span.droppedLinksCount);
  writer.message(15, (status) => void status.bytes(2, span.status.message ?? '').number(3, span.status.code));
  writer.fixed32(16, traceFlags);
}

/** KeyValue: key 1, value 2 (AnyValue: string 1, bool 2, int 3). The server's attributes are of these three types. */
function writeAttributes(writer: MessageWriter, field: number, attributes: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(attributes)) {
    writer.message(field, (entry) => entry.bytes(1, name).message(2, (any) => {
      if (typeof value === 'boolean') any.oneOf(2, value ? 1 : 0);
      else if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) any.oneOf(3, value);
      else any.bytes(1, String(value));
    }));
  }
}
