// What a request costs between the connection and the store: gets, creates and replacements of a small ConfigMap, through the filters, the endpoints
// and the registry of a server in memory, without a socket. CPU time of the process, so that a busy machine disturbs it less.
import { Readable, Writable } from 'node:stream';
import { type Clock, systemClock } from '../src/base/index.ts';
import type { Handler } from '../src/endpoints/index.ts';
import { type RequestHead, type Wire, createExchange } from '../src/server/http/exchange.ts';
import { writeResponse } from '../src/server/http/write-response.ts';
import { type ExposedParts, startServer } from '../src/server/index.ts';
import { testTokens } from '../src/test-support/index.ts';

/** One measurement: `nsPer` nanoseconds of CPU for each of `count` requests. */
interface Measurement {
  readonly name: string;
  readonly nsPer: number;
  readonly count: number;
}

const PATH = '/api/v1/namespaces/default/configmaps';
/** Requests that are in flight at once. */
const WIDTH = 64;
const NAMES = 256;

const connection = {};
const noBody = Readable.from([]);
const output = new Writable();
const headers = { authorization: `Bearer ${testTokens[0].token}`, accept: 'application/json', 'content-type': 'application/json' };

type Sent = Pick<RequestHead, 'method' | 'target'> & { readonly body?: string };

/** Sends a request and reads nothing of its answer but the status. */
function send(handler: Handler, clock: Clock, { method, target, body }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    let code = 0;
    const wire: Wire = {
      input: noBody, output, isReceived: true, readBody: async () => Buffer.from(body ?? ''), sendContinue() {},
      start(status) {
        code = status;
      },
      finish() {
        exchange?.close(true);
        resolve(code);
      },
      destroy: () => reject(new Error('the answer was cut off')),
    };
    const head: RequestHead = { method, target, headers, remoteAddress: '127.0.0.1', clientCertificate: undefined, connection, auditId: 'a' };
    const exchange = createExchange(head, wire, clock);
    if (exchange === undefined) return reject(new TypeError(`${target} is no path`));
    void (async () => writeResponse(exchange, await handler(exchange)))().catch(reject);
  });
}

/** Runs every measurement for about `seconds` in all. */
export async function run({ seconds }: { readonly seconds: number }): Promise<Measurement[]> {
  let exposed: ExposedParts | undefined;
  const server = await startServer({ tokens: testTokens }, { expose: (parts) => void (exposed = parts) });
  await server.ready;
  const { handler } = exposed as unknown as ExposedParts;
  const object = (name: string, value: number): string =>
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { filler: 'x'.repeat(900), value: String(value) } });
  let next = 0;
  const measure = async (name: string, make: (index: number) => Sent, shareMs: number): Promise<Measurement> => {
    const endMs = performance.now() + shareMs;
    const used = process.cpuUsage();
    const first = next;
    await Promise.all(Array.from({ length: WIDTH }, async () => {
      while (performance.now() < endMs) {
        const status = await send(handler, systemClock, make(next++));
        if (status > 201) throw new Error(`${name}: the server answered ${status}`);
      }
    }));
    const { user, system } = process.cpuUsage(used);
    return { name, nsPer: ((user + system) * 1000) / (next - first), count: next - first };
  };
  const place = (index: number): string => `c${index % NAMES}`;
  try {
    for (let index = 0; index < NAMES; index++) await send(handler, systemClock, { method: 'POST', target: PATH, body: object(place(index), index) });
    const workloads: readonly (readonly [string, (index: number) => Sent])[] = [
      ['get', (index) => ({ method: 'GET', target: `${PATH}/${place(index)}` })],
      ['create', (index) => ({ method: 'POST', target: PATH, body: object(`n${index}`, index) })],
      ['replace', (index) => ({ method: 'PUT', target: `${PATH}/${place(index)}`, body: object(place(index), index) })],
    ];
    const shareMs = (seconds * 1000) / workloads.length;
    for (const [name, make] of workloads) await measure(name, make, shareMs / 4);
    const rows: Measurement[] = [];
    for (const [name, make] of workloads) rows.push(await measure(name, make, shareMs * 0.75));
    return rows;
  } finally {
    await server.close();
  }
}
