// Every seat is given back, however its connection ends: on both protocols, in whatever state the response is.
import assert from 'node:assert/strict';
import { type ClientHttp2Session, connect } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { type TestServer, eventually, openRawConnection, startTestServer } from '../../test-support/index.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
const head = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer bob-token\r\n${more}\r\n`;

describe('seats', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ maxRequestsInflight: 20, maxMutatingRequestsInflight: 10 });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    const subjects = [{ kind: 'User', name: 'bob', apiGroup: roleRef.apiGroup }];
    await server.request({
      method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', body: { metadata: { name: 'bob' }, roleRef, subjects },
    });
    for (let at = 0; at < 2; at += 1) {
      await server.request({ method: 'POST', path: configMaps, body: { metadata: { name: `large-${at}` }, data: { x: 'y'.repeat(900_000) } } });
    }
  });
  after(() => server.close());

  /** The seats and requests that are taken, apart from those of the request that asks. */
  async function listTaken(): Promise<string[]> {
    const { text } = await server.request({ path: '/metrics' });
    const lines = text.match(/^apiserver_(?:flowcontrol_current_(?:executing|inqueue)|current_inflight|longrunning)\S* [1-9]\d*$/gm) ?? [];
    return lines.filter((line) => !/priority_level="exempt"|request_kind="readOnly"} 1$/.test(line));
  }

  const allGivenBack = (): Promise<void> => eventually(async () => {
    assert.deepEqual(await listTaken(), []);
    const answer = await server.request({ path: `${configMaps}/large-0`, token: 'bob-token' });
    assert.equal(answer.status, 200);
  });

  it('are not taken by writes whose bodies do not come', async () => {
    const half = head(configMaps, 'Content-Type: application/json\r\nContent-Length: 900\r\n').replace('GET', 'POST');
    const connections = await Promise.all(Array.from({ length: 40 }, () => openRawConnection(server.url)));
    const session = connect(server.url, { rejectUnauthorized: false });
    for (const { socket } of connections) socket.write(`${half}{`);
    for (let at = 0; at < 40; at += 1) {
      const headers = { ':method': 'PUT', ':path': `${configMaps}/late`, authorization: 'Bearer bob-token', 'content-type': 'application/json' };
      session.request(headers).on('error', () => {}).write('{');
    }
    for (let turns = 0; turns < 20; turns += 1) await turn();
    assert.deepEqual(await listTaken(), []);
    assert.equal((await server.request({ path: `${configMaps}/large-0`, token: 'bob-token' })).status, 200);
    const made = await server.request({ method: 'POST', path: configMaps, token: 'bob-token', body: { metadata: { name: 'beside' } } });
    assert.equal(made.status, 201);
    for (const { socket } of connections) socket.destroy();
    session.destroy();
  });

  const rows: readonly (readonly [name: string, text: string])[] = [
    ['pipelined, small answers', head('/version').repeat(1000)],
    ['pipelined, large answers', head(configMaps).repeat(20)],
    ['half a head', 'GET /version HTTP/1.1\r\nHost: x\r\n'],
    ['half a body', `POST ${configMaps} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer bob-token\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{`],
    ['a body behind pipelined requests', `${head(configMaps).repeat(3)}POST ${configMaps} HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n{`],
    ['a watch', head(`${configMaps}?watch=1`)],
    ['a watch and requests behind it', head(`${configMaps}?watch=1`) + head('/version').repeat(50)],
    ['a WebSocket', head(`${configMaps}?watch=1`, 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
      + 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n')],
    ['another protocol', head(configMaps, 'Connection: Upgrade\r\nUpgrade: other\r\n')],
    ['another protocol behind requests', head(configMaps).repeat(5) + head(configMaps, 'Connection: Upgrade\r\nUpgrade: other\r\n')],
    ['bytes that are no request, behind requests', `${head(configMaps).repeat(5)}hello\r\n\r\n`],
  ];
  for (const [name, text] of rows) {
    it(`are given back on HTTP/1.1 when a client that reads nothing leaves: ${name}`, async () => {
      for (const leave of ['close', 'end', 'reset']) {
        const connections = await Promise.all(Array.from({ length: 3 }, () => openRawConnection(server.url)));
        for (const { socket } of connections) socket.pause().write(text);
        for (let turns = 0; turns < 20; turns += 1) await turn();
        for (const { socket, reset } of connections) {
          if (leave === 'close') socket.destroy();
          else if (leave === 'end') socket.end().resume();
          else reset();
        }
        await allGivenBack();
        for (const { socket } of connections) socket.destroy();
      }
    });
  }

  it('are given back by answers that are not read: connections of one user do not hold up others', async () => {
    const unread = await Promise.all(Array.from({ length: 40 }, () => openRawConnection(server.url)));
    // More than the sockets of the system take.
    for (const { socket } of unread) socket.pause().write(head(configMaps).repeat(5));
    await eventually(async () => {
      const { text } = await server.request({ path: '/metrics' });
      assert.ok(/^pintle_flowcontrol_unread_answers\{priority_level="global-default"\} [1-9]/m.test(text));
    });
    const { status } = await server.request({ path: `${configMaps}/large-0`, token: 'bob-token' });
    assert.equal(status, 200);
    for (const { socket } of unread) socket.destroy();
    await allGivenBack();
  });

  const openSession = async (): Promise<ClientHttp2Session> => {
    const session = connect(server.url, { rejectUnauthorized: false, settings: { initialWindowSize: 1000 } });
    session.on('error', () => {});
    await new Promise((resolve) => session.once('connect', resolve));
    return session;
  };
  const ask = (session: ClientHttp2Session, path: string, more: object = {}) => {
    const stream = session.request({ ':path': path, authorization: 'Bearer bob-token', ...more }, { endStream: Object.keys(more).length === 0 });
    stream.on('error', () => {});
    return stream;
  };
  const endings = {
    'at once': async (session: ClientHttp2Session) => {
      ask(session, configMaps);
      ask(session, '/version');
      session.destroy();
    },
    'half-written': async (session: ClientHttp2Session) => {
      for (let count = 0; count < 30; count += 1) ask(session, configMaps).pause();
      for (let turns = 0; turns < 20; turns += 1) await turn();
      session.destroy();
    },
    'reset streams': async (session: ClientHttp2Session) => {
      for (let count = 0; count < 60; count += 1) {
        const stream = ask(session, count % 2 === 0 ? configMaps : `${configMaps}?watch=1`);
        if (count % 3 === 0) stream.close(8);
        else setImmediate(() => stream.close(8));
      }
      for (let turns = 0; turns < 20; turns += 1) await turn();
      session.destroy();
    },
    'half a body': async (session: ClientHttp2Session) => {
      for (let count = 0; count < 10; count += 1) ask(session, configMaps, { ':method': 'POST', 'content-type': 'application/json' }).write('{');
      for (let turns = 0; turns < 20; turns += 1) await turn();
      session.destroy();
    },
  };
  for (const [name, end] of Object.entries(endings)) {
    it(`are given back on HTTP/2 when the connection ends: ${name}`, async () => {
      await Promise.all(Array.from({ length: 3 }, async () => end(await openSession())));
      await allGivenBack();
    });
  }
});
