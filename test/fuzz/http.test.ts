// Mutated bytes on connections: HTTP/1.1 requests, and HTTP/2 frames behind a preface. No answer is an error of the server's own, and afterwards
// the server answers and every seat is given back. PINTLE_FUZZ_CONNECTIONS sets the connections of each protocol, PINTLE_FUZZ_SEED the seed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import tls from 'node:tls';
import { type TestServer, eventually, startTestServer } from '../../src/test-support/index.ts';
import { encodeFrame, http2Preface } from '../attacks/connections/http2-frame.ts';
import { Dice, mutate } from './mutate.ts';

const connections = Number(process.env.PINTLE_FUZZ_CONNECTIONS ?? 400);
const seed = Number(process.env.PINTLE_FUZZ_SEED ?? 1);
const AT_ONCE = 20;
/** An exchange without an end from the server is ended by the client. */
const WAIT_MS = 250;

const configMaps = '/api/v1/namespaces/default/configmaps';
const body = '{"metadata":{"name":"a"},"data":{"a":"b"}}';
const headers = 'Host: x\r\nAuthorization: Bearer alice-token\r\n';
const requests = [
  `GET /version HTTP/1.1\r\n${headers}\r\n`,
  `POST ${configMaps}?dryRun=All HTTP/1.1\r\n${headers}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  `POST ${configMaps}?dryRun=All HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\nA: b\r\n\r\n`,
  `PATCH ${configMaps}/x?fieldManager=a HTTP/1.1\r\n${headers}Content-Type: application/apply-patch+yaml\r\n`
    + 'Expect: 100-continue\r\nContent-Length: 5\r\n\r\na: b\n',
  `GET ${configMaps}?watch=1&labelSelector=a%3Db&limit=5&resourceVersion=0 HTTP/1.1\r\n${headers}Connection: Upgrade\r\nUpgrade: websocket\r\n`
    + 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n\x89\x85abcdefghi',
  `GET /apis/apps/v1/namespaces/%2e%2e/deployments/a%2Fb?pretty=1 HTTP/1.0\r\n${headers}Accept: application/json;as=Table;g=meta.k8s.io;v=v1\r\n\r\n`,
].map((each) => Buffer.from(each, 'latin1'));
const words = ['\r\n', '\n', '\r', ' ', ':', '\0', '\t', 'HTTP/1.1', 'HTTP/2.0', '%00', '%', '?', '&', ';', '//', '..', 'Content-Length: 1\r\n',
  'Upgrade: h2c\r\n', 'Transfer-Encoding: chunked\r\n', 'Connection: close\r\n', 'Impersonate-User: a\r\n', 'X-Remote-User: a\r\n', 'Accept: */*;q=2\r\n',
  'resourceVersion=-1', 'continue=e30'];

const literal = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);
const getVersion = Buffer.concat([Buffer.from([0x82, 0x87]), literal(':path', '/version'), literal(':authority', 'x'),
  literal('authorization', 'Bearer alice-token')]);
const settings = encodeFrame(4, 0);
const frames = [
  Buffer.concat([settings, encodeFrame(1, 5, { stream: 1, payload: getVersion }), encodeFrame(6, 0, { payload: Buffer.alloc(8) }),
    encodeFrame(8, 0, { payload: Buffer.from([0, 0, 1, 0]) })]),
  Buffer.concat([encodeFrame(4, 0, { payload: Buffer.from([0, 4, 0, 0, 0, 0]) }), encodeFrame(1, 4, { stream: 1, payload: getVersion }),
    encodeFrame(0, 0, { stream: 1, payload: Buffer.from('{"a":') }), encodeFrame(3, 0, { stream: 1, payload: Buffer.alloc(4) })]),
  Buffer.concat([settings, encodeFrame(1, 1, { stream: 3, payload: getVersion.subarray(0, 9) }),
    encodeFrame(9, 4, { stream: 3, payload: getVersion.subarray(9) }), encodeFrame(2, 0, { stream: 5, payload: Buffer.alloc(5) })]),
];
const pieces = ['\0\0\x04\x08\0\0\0\0\0', '\xff\xff\xff', '\0\0\x08\x06\0', '\x7f\xff\xff\xff', '\0\0\0\x04\x01', '\x82\x84\x86', '\x3f\xe1\x1f',
  '\x01\x05\0\0\0'];

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** An answer of 500, by its first line or by its Status, which HTTP/2 shows as well. The reference has that code for a resource version that is none. */
const ownError = /HTTP\/1\.1 500(?![^]*invalid resource version)|"message":"(?!invalid resource version)[^\n]*"code":500|panic/;

/** Writes bytes and answers what came back until one side ended. */
function exchange(protocol: string, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const { hostname: host, port } = new URL(server.url);
    let text = '';
    const socket = tls.connect({ host, port: Number(port), rejectUnauthorized: false, ALPNProtocols: [protocol] }, () => {
      socket.write(bytes);
      setTimeout(() => socket.destroy(), WAIT_MS);
    });
    socket.on('data', (part: Buffer) => (text += part.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

async function fuzz(protocol: string, make: (dice: Dice) => Buffer): Promise<void> {
  const dice = new Dice(seed);
  let done = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (done < connections) {
      done += 1;
      const bytes = make(dice);
      const text = await exchange(protocol, bytes);
      assert.doesNotMatch(text, ownError, `seed ${seed}: ${JSON.stringify(bytes.toString('latin1'))}`);
    }
  }));
  assert.equal((await server.request({ path: '/readyz' })).status, 200);
}

/** Resolves when no request of any level is executed any more. */
async function expectFreeSeats(): Promise<void> {
  await eventually(async () => {
    const { text } = await server.request({ path: '/metrics' });
    const seats = text.split('\n').filter((line) => line.startsWith('apiserver_flowcontrol_current_executing_requests{') && !line.includes('exempt'));
    assert.deepEqual(seats.filter((line) => !line.endsWith(' 0')), []);
  });
}

test('mutated requests of HTTP/1.1 are answered or refused, and every seat is given back', async () => {
  await fuzz('http/1.1', (dice) => mutate(dice, requests, words));
  await expectFreeSeats();
});

test('mutated frames of HTTP/2 are answered or refused, and every seat is given back', async () => {
  await fuzz('h2', (dice) => Buffer.concat([http2Preface, mutate(dice, frames, pieces)]));
  await expectFreeSeats();
});
