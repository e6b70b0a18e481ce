// Watches: the events of a response as they come, and the pause before the next try.
import { ApiError } from './request.ts';

/** One event. */
export interface WatchEvent {
  readonly type: string;
  readonly object: any;
}

/** The events of a watch until the server ends it; leaving the loop ends the request. Throws ApiError where the server ends it by an error. */
export async function* readEvents(response: Response): AsyncGenerator<WatchEvent> {
  for await (const line of readLines(response)) {
    if (line === '') continue;
    const event = JSON.parse(line) as WatchEvent;
    const { message = 'the watch ended', code = 500, reason = '' } = event.type === 'ERROR' ? event.object : {};
    if (event.type === 'ERROR') throw new ApiError(message, { code, reason });
    yield event;
  }
}

async function* readLines(response: Response): AsyncGenerator<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Waits, no longer than until `signal` is aborted. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> => new Promise((resolve) => {
  const end = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    resolve();
  };
  const timer = setTimeout(end, ms);
  signal.addEventListener('abort', end);
});
