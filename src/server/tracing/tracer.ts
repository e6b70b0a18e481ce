// Spans by the OpenTelemetry SDK, which is loaded when a server begins to trace, and its export over our gRPC. Sampling follows the caller's decision
// (traceparent), else the rate of the configuration. Mirrors component-base/tracing.
import { type Span, type Tracer, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOffSampler, BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { type Clock, delay } from '../../base/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { TracingSettings } from './configuration.ts';
import { OtlpExporter } from './otlp.ts';
import type { ActiveSpan, SpanAttributes, SpanDescription } from './spans.ts';

interface TracerOptions {
  readonly settings: TracingSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The name of this server among those of its store. */
  readonly serverId: string;
}

/** A request as its span begins. */
interface RequestSpan {
  readonly name: string;
  readonly attributes: () => SpanAttributes;
  readonly startedAtMs: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Whether the caller may decide that the request is traced; of others a trace of theirs is linked. */
  readonly isTrusted: boolean;
}

/** Makes spans of requests. */
export interface RequestTracer {
  /** The span of a request; undefined where neither its caller nor chance asks for one. */
  begin(request: RequestSpan): ActiveSpan | undefined;
  /** Sends what is left, for some seconds at most. */
  stop(): Promise<void>;
}

const MILLION = 1_000_000;
const LAST_EXPORT_MS = 5_000;
const SCOPE = 'k8s.io/component-base/tracing';
const traceContext = new W3CTraceContextPropagator();
const baggage = new W3CBaggagePropagator();

const getter = {
  get: (headers: RequestSpan['headers'], name: string): string | undefined => headers[name],
  keys: (headers: RequestSpan['headers']): string[] => Object.keys(headers),
};
const setter = { set: (headers: Record<string, string>, name: string, value: string): void => void (headers[name] = value) };

/** Begins to trace. */
export function createRequestTracer({ settings, clock, logger, serverId }: TracerOptions): RequestTracer {
  const { samplingRatePerMillion: rate, collector } = settings;
  const root = rate > 0 ? new TraceIdRatioBasedSampler(rate / MILLION) : new AlwaysOffSampler();
  const exporter = new OtlpExporter({ collector, clock, logger });
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root }), spanProcessors: [new BatchSpanProcessor({ exporter })],
    resource: resourceFromAttributes({ 'service.name': 'apiserver', 'service.instance.id': serverId }),
  });
  const tracer = provider.getTracer(SCOPE);
  return {
    begin({ name, attributes, startedAtMs, headers, isTrusted }) {
      const isTraced = headers['traceparent'] !== undefined;
      if (!isTraced && rate === 0) return undefined;
      const given = isTraced ? baggage.extract(traceContext.extract(ROOT_CONTEXT, headers, getter), headers, getter) : ROOT_CONTEXT;
      const caller = trace.getSpanContext(given);
      const links = isTrusted || caller === undefined ? [] : [{ context: caller }];
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime: startedAtMs, links, root: !isTrusted }, given);
      if (!span.isRecording() && !(isTrusted && isTraced)) return undefined;
      if (span.isRecording()) span.setAttributes(attributes());
      return new SdkSpan(span, { tracer, context: given });
    },
    async stop() {
      await Promise.race([provider.shutdown().catch(() => undefined), delay(clock, LAST_EXPORT_MS)]);
      exporter.close();
    },
  };
}

type Context = typeof ROOT_CONTEXT;

/** A span of the SDK. One that is not recorded passes on the caller's decision and nothing else. */
class SdkSpan implements ActiveSpan {
  readonly #span: Span;
  readonly #tracer: Tracer;
  readonly #context: Context;

  constructor(span: Span, { tracer, context }: { readonly tracer: Tracer; readonly context: Context }) {
    this.#span = span;
    this.#tracer = tracer;
    this.#context = trace.setSpan(context, span);
  }

  begin({ name, attributes = {}, kind }: SpanDescription): ActiveSpan {
    if ((this.#span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return this;
    const span = this.#tracer.startSpan(name, { attributes, kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL }, this.#context);
    return new SdkSpan(span, { tracer: this.#tracer, context: this.#context });
  }

  event(name: string, attributes?: SpanAttributes): void {
    this.#span.addEvent(name, attributes);
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }

  headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    traceContext.inject(this.#context, headers, setter);
    baggage.inject(this.#context, headers, setter);
    return headers;
  }

  end(error?: unknown): void {
    if (error !== undefined) {
      this.#span.recordException(error instanceof Error ? error : String(error));
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
    }
    this.#span.end();
  }
}
