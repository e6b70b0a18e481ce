// The span of the request at hand, wherever in the server it is worked on. Without tracing, and for requests that are not traced, there is none,
// and asking for it is all that it costs. The SDK is behind `ActiveSpan`, see tracer.ts.
import { AsyncLocalStorage } from 'node:async_hooks';

/** Attributes of spans. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A span that has not begun. */
export interface SpanDescription {
  readonly name: string;
  readonly attributes?: SpanAttributes;
  /** `client`: a call of another server. */
  readonly kind?: 'client';
}

/** A span that has not ended. */
export interface ActiveSpan {
  begin(description: SpanDescription): ActiveSpan;
  event(name: string, attributes?: SpanAttributes): void;
  set(attributes: SpanAttributes): void;
  /** The headers by which another server continues the trace. */
  headers(): Readonly<Record<string, string>>;
  end(error?: unknown): void;
}

const active = new AsyncLocalStorage<ActiveSpan>();

/** The span of the work at hand. */
export const currentSpan = (): ActiveSpan | undefined => active.getStore();

/** Runs with this span as the current one; it is for the caller to end it. */
export const runWithSpan = <T>(span: ActiveSpan, run: () => T): T => active.run(span, run);

/** Runs in a span below the current one, which ends with the work; without a current one just runs. */
export async function inSpan<T>(describe: () => SpanDescription, run: () => T | Promise<T>): Promise<T> {
  const span = active.getStore()?.begin(describe());
  if (span === undefined) return run();
  try {
    const result = await active.run(span, run);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** The same for work that is done when it returns. */
export function inShortSpan<T>(describe: () => SpanDescription, run: () => T): T {
  const span = active.getStore()?.begin(describe());
  if (span === undefined) return run();
  try {
    const result = active.run(span, run);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** Headers that continue the current trace; none without one. */
export const traceHeaders = (): Readonly<Record<string, string>> | undefined => active.getStore()?.headers();
