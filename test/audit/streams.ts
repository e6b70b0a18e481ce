// Steps of a case that last: watches that stay open while other requests come, and requests that are sent at once.
import { request as requestHttps } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { ClientRequest, TestClient } from '../../src/test-support/index.ts';
import type { Json } from '../differential/case.ts';
import { eventually } from '../../src/test-support/index.ts';

const HEARD_MS = 20_000;

/** A stream that is open, and what has come of it. */
interface Stream {
  readonly response: IncomingMessage;
  text: string;
  /** How it has ended: as it should, or cut off. */
  end: 'cut off' | 'ended' | undefined;
}

/** The streams of a server by their names. */
export type Streams = Map<string, Stream>;

const count = ({ text }: Stream): number => text.split('\n').length - 1;
const linesOf = ({ text }: Stream): readonly Json[] => text.split('\n').slice(0, -1).map((line) => JSON.parse(line) as Json);

/** Opens a stream, and answers when its head has come: `open:NAME/path`. One that is refused is answered as it is. */
export function openStream(streams: Streams, url: string, { path, method = 'GET', headers, token }: ClientRequest): Promise<unknown> {
  const at = path.indexOf('/');
  return new Promise((resolve, reject) => {
    const sent = requestHttps(`${url}${path.slice(at)}`, { method, agent: false, rejectUnauthorized: false,
      headers: { ...(token !== null && { authorization: `Bearer ${token ?? 'admin-token'}` }), ...headers } }, (response) => {
      const { statusCode: status = 0 } = response;
      if (status >= 400) return void readText(response).then((text) => resolve({ status, body: JSON.parse(text) as Json }), reject);
      const stream: Stream = { response, text: '', end: undefined };
      streams.set(path.slice(0, at), stream);
      response.setEncoding('utf8').on('data', (piece: string) => { stream.text += piece; }).on('error', () => undefined)
        .on('close', () => { stream.end = response.complete ? 'ended' : 'cut off'; });
      resolve({ status, contentType: response.headers['content-type'] });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** The events of a stream when it has so many events, or has ended: `heard:NAME?COUNT`, or `heard:NAME` for its end. */
export async function hear(streams: Streams, rest: string): Promise<unknown> {
  const [name, wanted = 'Infinity'] = rest.split('?') as [string, string?];
  const stream = streams.get(name);
  if (stream === undefined) return 'not open';
  const isDone = (): boolean => stream.end !== undefined || count(stream) >= Number(wanted);
  await eventually(() => { if (!isDone()) throw new Error('not yet'); }, HEARD_MS).catch(() => undefined);
  return { events: linesOf(stream).map(({ type, object }) => (type === 'BOOKMARK' ? { type, metadata: { resourceVersion: object.metadata.resourceVersion } }
    : { type, object })), end: stream.end ?? 'open' };
}

/** Reads no more of a stream until it is listened to: `rest:NAME`. */
export const restStream = (streams: Streams, name: string): void => void streams.get(name)?.response.pause();

/** Whether a stream that was not read brings creations in their order, until COUNT of them have come or it has ended: `caughtup:NAME?COUNT`. */
export async function catchUp(streams: Streams, rest: string): Promise<unknown> {
  const stream = streams.get(rest.split('?')[0]!);
  stream?.response.resume();
  const { end } = await hear(streams, rest) as { end: string };
  const versions = stream === undefined ? [] : linesOf(stream).map(({ object }) => Number(object.metadata.resourceVersion));
  return { isInOrder: versions.every((version, index) => index === 0 || version > versions[index - 1]!), end };
}

/** Closes a stream from this end: `close:NAME`. */
export function closeStream(streams: Streams, name: string): void {
  streams.get(name)?.response.destroy();
  streams.delete(name);
}

/** Requests that are sent at once, the whole list COUNT times with {n} for which time it is, and how often each answer came: `together:COUNT`. */
export async function sendTogether(client: TestClient, count: number, requests: readonly ClientRequest[]): Promise<unknown> {
  const sent = Array.from({ length: count }, (_, n) => JSON.parse(JSON.stringify(requests).replaceAll('{n}', String(n))) as ClientRequest[]).flat();
  const answers = await Promise.all(sent.map(async (request) => {
    const { status, body } = await client.request(request);
    return `${status}${status >= 400 ? ` ${body?.reason}` : ''}`;
  }));
  return Object.fromEntries([...new Set(answers)].sort().map((answer) => [answer, answers.filter((each) => each === answer).length]));
}
