// Steps of a case that are no plain requests: they are paths behind a word and a colon, and are answered as requests are.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request as requestHttps } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { connect } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { ClientRequest, ClientResponse, TestClient } from '../../src/test-support/index.ts';
import type { Json } from '../differential/case.ts';
import { PINTLE } from '../differential/servers.ts';
import { looks } from './looks.ts';
import type { Certificate } from './row.ts';
import { type Aside, type Scene, fillRequest } from './scene.ts';
import { type Streams, catchUp, closeStream, hear, openStream, restStream, sendTogether } from './streams.ts';
import { changeSigner } from './signer.ts';
import { waits } from './waits.ts';

/** How long a WebSocket is listened to. */
const WEBSOCKET_MS = 2000;

const answer = (body: unknown): ClientResponse => {
  const text = JSON.stringify(body ?? null);
  return { status: 200, headers: { 'content-type': 'application/json' }, text, bytes: Buffer.from(text), body: body ?? null };
};

/** Whether an aside has answered as a server does. */
const isResponse = (value: unknown): value is ClientResponse => typeof value === 'object' && value !== null && 'bytes' in value;

const withoutLatencies = (event: Json): Json => ({ ...event, ...(event['annotations'] !== undefined && { annotations: Object.fromEntries(
  Object.entries(event['annotations'] as Json).filter(([name]) => !name.startsWith('apiserver.latency.k8s.io/'))) }) });

/** What kube-apiserver asks itself are requests over its own port; here they are calls (docs/differences.md). */
const isOfClient = ({ user }: Json): boolean => user?.username !== 'system:apiserver';

/** A request with a client certificate and no token: `cert:NAME/path`. */
function askWithCertificate({ peer, place }: Scene, rest: string, { method = 'GET', body, headers }: ClientRequest): Promise<ClientResponse> {
  const at = rest.indexOf('/');
  const agent = new Agent({ rejectUnauthorized: false, cert: readFileSync(place.file(`${rest.slice(0, at)}.crt`)),
    key: readFileSync(place.file(`${rest.slice(0, at)}.key`)) });
  return new Promise((resolve, reject) => {
    const sent = requestHttps(`${peer.url}${rest.slice(at)}`, { agent, method, headers: { 'content-type': 'application/json', ...headers } }, (response) => {
      readText(response).then((text) => {
        const isJson = response.headers['content-type']?.startsWith('application/json') === true;
        agent.destroy();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, bytes: Buffer.from(text), body: isJson ? JSON.parse(text) : undefined });
      }, reject);
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The answer to an upgrade to a WebSocket, and the texts that came in its first frames: `ws:/path`. */
function askByWebSocket({ peer }: Scene, at: string, { headers, token }: ClientRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = requestHttps(`${peer.url}${at}`, { rejectUnauthorized: false, headers: {
      connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      ...(token !== null && { authorization: `Bearer ${token ?? 'admin-token'}` }), ...headers } });
    sent.on('upgrade', (response, socket, head) => {
      const chunks: Buffer[] = [head];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject).on('close', () => resolve({
        status: response.statusCode, accept: response.headers['sec-websocket-accept'], protocol: response.headers['sec-websocket-protocol'],
        frames: readFrames(Buffer.concat(chunks)),
      }));
      setTimeout(() => socket.destroy(), WEBSOCKET_MS);
    });
    sent.on('response', (response) => void readText(response).then((text) => resolve({ status: response.statusCode, text }), reject));
    sent.on('error', reject);
    sent.end();
  });
}

/** Frames of a server: their kinds, and what texts and bytes hold. */
function readFrames(bytes: Buffer): readonly unknown[] {
  const frames: unknown[] = [];
  for (let at = 0; at + 1 < bytes.length;) {
    const kind = bytes[at]! & 0xf;
    const short = bytes[at + 1]! & 0x7f;
    const begin = at + (short < 126 ? 2 : short === 126 ? 4 : 10);
    const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    const text = bytes.subarray(begin, begin + length).toString();
    frames.push({ kind, ...(kind === 1 && text.startsWith('{') ? { event: JSON.parse(text) as Json } : {}) });
    at = begin + length;
  }
  return frames;
}

/** As many requests as will meet a chance of some percent. */
const MANY = 1000;

/**
 * Requests one after the other on one HTTP/2 connection, until it ends: `h2:COUNT/path`. Whether it ends by chance shows in many of
 * known callers alone.
 */
async function askOverHttp2({ peer }: Scene, rest: string, { token }: ClientRequest): Promise<unknown> {
  const at = rest.indexOf('/');
  const session = connectHttp2(peer.url, { rejectUnauthorized: false });
  const statuses: unknown[] = [];
  let isEnded = false;
  let streams: number | undefined;
  session.on('goaway', () => { isEnded = true; }).on('close', () => { isEnded = true; }).on('error', () => { isEnded = true; });
  session.on('remoteSettings', (settings) => { streams = settings.maxConcurrentStreams; });
  for (let i = 0; i < Number(rest.slice(0, at)) && !isEnded; i++) {
    const stream = session.request({ ':path': rest.slice(at), ...(token !== null && { authorization: `Bearer ${token ?? 'admin-token'}` }) });
    const status = new Promise((resolve) => {
      stream.on('response', (headers) => resolve(headers[':status'])).on('error', () => resolve('cut off')).on('close', () => resolve('closed'));
    });
    await readText(stream).catch(() => '');
    statuses.push(await status);
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  session.destroy();
  return { statuses: [...new Set(statuses)], ...((token === null || Number(rest.slice(0, at)) > MANY) && { isEnded }), streams };
}

/** Whether a ping on an HTTP/2 connection is answered. */
function ping({ peer }: Scene): Promise<unknown> {
  const session = connectHttp2(peer.url, { rejectUnauthorized: false });
  return new Promise((resolve) => {
    session.on('error', () => resolve({ isAnswered: false }));
    session.once('connect', () => session.ping((error) => {
      resolve({ isAnswered: error === null });
      session.destroy();
    }));
  });
}

/** The answer to a request without TLS. */
function askInTheClear({ peer }: Scene): Promise<unknown> {
  const { hostname, port } = new URL(peer.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /livez HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
  return readText(socket).then((text) => text.split('\r\n\r\n'), () => 'cut off');
}

/** The sum of the samples of a metric that have a text among their labels: `metric:NAME?TEXT`. */
async function readMetric({ peer }: Scene, rest: string): Promise<unknown> {
  const [name, text = ''] = rest.split('?') as [string, string?];
  const { text: samples } = await peer.client.request({ path: '/metrics' });
  return { value: samples.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(text))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0) };
}

/** Whether the first of two values is less, as numbers where they are some. */
const isLess = ([one, other]: readonly [string, string]): unknown => ({ isLess: /^\d+$/.test(one) ? Number(one) < Number(other) : one < other });

/** The version, suite, protocol and certificate of a handshake: `tls:?OPTION=VALUE&…` of node:tls. */
function shakeHands({ peer }: Scene, rest: string): Promise<unknown> {
  const { alpn, ...options } = Object.fromEntries(new URLSearchParams(rest));
  const { hostname, port } = new URL(peer.url);
  return new Promise((resolve) => {
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false, ...(options as ConnectionOptions),
      ...(alpn !== undefined && { ALPNProtocols: alpn.split(',') }) }, () => {
      const { name } = socket.getCipher();
      resolve({ version: socket.getProtocol(), suite: options['maxVersion'] === 'TLSv1.2' ? name.replace('-ECDSA-', '-RSA-') : undefined,
        protocol: socket.alpnProtocol, subject: String(socket.getPeerCertificate().subject.CN).replace(/@\d+$/, '@<time>') });
      socket.destroy();
    });
    socket.on('error', () => resolve({ version: 'refused' }));
  });
}

/** The version and kind that a stored value says it has. */
function readType(value: string): string | undefined {
  const [, binary, json] = /^k8s\0\n[^]\n([^]*)$|"apiVersion":"([^"]*)"/.exec(value) ?? [];
  if (json !== undefined) return `${json} ${/"kind":"(\w+)"/.exec(value)?.[1]}`;
  if (binary === undefined) return undefined;
  const length = binary.charCodeAt(0);
  return `${binary.slice(1, length + 1)} ${binary.slice(length + 3, length + 3 + binary.charCodeAt(length + 2))}`;
}

/**
 * How the stored values below a key begin; a PUT writes one, or copies that of another key, and a DELETE removes it: `etcd:KEY`. With a
 * resourceVersion, `etcd:KEY?VERSION`, their types and whether they were written at it.
 */
async function lookIntoEtcd({ etcd }: Scene, rest: string, { method, body }: ClientRequest): Promise<unknown> {
  const [key, words] = rest.split('?') as [string, string?];
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const ask = async (what: string, sent: Json): Promise<Json> => await (await fetch(`${etcd}/v3/kv/${what}`, { method: 'POST',
    body: JSON.stringify(sent) })).json() as Json;
  if (method === 'DELETE') return void await ask('deleterange', { key: encode(key) });
  const from = (body as Json | undefined)?.['from'] as string | undefined;
  if (method === 'PUT') {
    const value = from === undefined ? encode(String(body)) : (await ask('range', { key: encode(from) }))['kvs'][0].value;
    return void await ask('put', { key: encode(key), value });
  }
  const { kvs = [] } = await ask('range', { key: encode(key), range_end: encode(`${key}\u007f`) });
  if (words !== undefined) return (kvs as Json[]).map((pair) => ({ key: Buffer.from(pair['key'], 'base64').toString(), version: pair['version'],
    isAt: pair['mod_revision'] === words, type: readType(Buffer.from(pair['value'], 'base64').toString('latin1')) }));
  return (kvs as Json[]).map((pair) => {
    const value = Buffer.from(pair['value'], 'base64').toString('latin1');
    const begin = /^k8s:enc:(?:[\w.-]+:){3}/.exec(value)?.[0] ?? value.slice(0, 4).replace(/\0/g, '\\0');
    return { key: Buffer.from(pair['key'], 'base64').toString(), begin, hasLease: pair['lease'] !== undefined };
  });
}

/** The part of a refusal that says which flag it is about, and why. */
const refusals = new RegExp(['unknown flag: --[\\w-]+', '--emulated-version\\S* is not supported',
  '--etcd-servers-overrides invalid, [\\w/#: ]+, [\\w ]+, [\\w ]+', 'service-account-signing-key-file and service-account-signing-endpoint [\\w ]+',
  'can\'t set `--service-account-signing-key-file`[^)]+\\)', 'invalid argument "[^"]*" for "?(?:-v, )?--[\\w-]+'].join('|'));

/** Whether the program ends with these flags, and which of them it names with what reason: `run:FLAGS`. */
async function run({ program, place }: Scene, rest: string): Promise<unknown> {
  const flags = place.fill(rest).split(' ');
  const child = program === undefined ? spawn(process.execPath, [PINTLE, ...flags]) : spawn(program, flags);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const said = await readText(child.stderr);
  const named = refusals.exec(said)?.[0];
  return { isRefused: await ended !== 0, said: named?.replace(/"(?:-v, )?--/, '--') };
}

const asides: Readonly<Record<string, Aside>> = {
  cert: askWithCertificate, ws: askByWebSocket, h2: askOverHttp2, tls: shakeHands, etcd: lookIntoEtcd,
  etcd2: (scene, rest, request) => lookIntoEtcd({ ...scene, etcd: scene.otherEtcd }, rest, request), run,
  ping, clear: askInTheClear, metric: readMetric, less: (_, __, { body }) => isLess(body as [string, string]),
  open: ({ streams, peer }, rest, request) => openStream(streams, peer.url, { ...request, path: rest }),
  heard: ({ streams }, rest) => hear(streams, rest),
  rest: ({ streams }, name) => restStream(streams, name),
  caughtup: ({ streams }, rest) => catchUp(streams, rest),
  close: ({ streams }, name) => closeStream(streams, name),
  together: ({ peer }, count, { body }) => sendTogether(peer.client, Number(count), body as ClientRequest[]),
  signal: ({ peer }, name) => peer.signal(name as NodeJS.Signals),
  etcdsignal: (scene, name) => scene.signalEtcd(name as NodeJS.Signals),
  /** The lines of a file that contain a text, `lines:NAME?TEXT`. */
  lines({ place }, rest) {
    const [name, wanted = ''] = rest.split('?') as [string, string?];
    return readFileSync(place.file(name), 'utf8').split('\n').filter((line) => line !== '' && line.includes(wanted))
      .map((line) => withoutLatencies(JSON.parse(line) as Json)).filter(isOfClient);
  },
  file({ place }, name, { body }) {
    writeFileSync(place.file(name), place.fill(String(body)));
  },
  /** What a webhook was sent since it was last looked at, of what contains a text: `calls:NAME?TEXT`. */
  calls({ place }, rest) {
    const [name, wanted = ''] = rest.split('?') as [string, string?];
    const found = place.calls.filter((call) => call.name === name && JSON.stringify(call.body).includes(wanted));
    place.calls.splice(0, Infinity, ...place.calls.filter((call) => !found.includes(call)));
    return found.map(({ body }) => body);
  },
  /** Changes what the signer of tokens answers. */
  signer: ({ place }, _, { body }) => changeSigner(place.signer!, body as Json),
  /** The header of a token, and the names of its claims. */
  jwt: (_, token) => token.split('.').slice(0, 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Json)
    .map((part, index) => (index === 0 ? part : Object.keys(part))),
  certificate: ({ place }, name, { body }) => place.certify(name, body as Certificate),
  token: ({ place }, claims) => ({ token: place.sign(JSON.parse(claims) as Json) }),
  ...looks, ...waits,
};

/** A client of the server, which answers asides as well. */
export function withAsides(parts: Omit<Scene, 'streams'>): TestClient {
  const { client } = parts.peer;
  const streams: Streams = new Map();
  const scene = { ...parts, streams };
  return {
    close: () => client.close(),
    async request(request) {
      const found = /^([a-z]\w*):([^]*)$/.exec(request.path);
      if (found === null) return client.request(fillRequest(scene.place, request));
      const [, word, rest] = found as unknown as [string, string, string];
      const said = await asides[word]!(scene, rest, request);
      return isResponse(said) ? said : answer(said);
    },
  };
}
