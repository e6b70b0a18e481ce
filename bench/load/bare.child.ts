// The yardstick: what Node can do with TLS and these bytes when nothing else is to be done. They are the answer to every request but two:
// `/stream` is never answered to its end, and `/send` writes them, as one chunk, to all connections that asked for that.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock, systemRandom } from '../../src/base/index.ts';
import { preparePki } from '../../src/server/tls/pki.ts';

const body = readFileSync(process.argv[2] as string);
const { serving } = preparePki({ clock: systemClock, random: systemRandom, directory: '', addresses: [], serviceRange: '10.0.0.0/24' });
const headers = { 'content-type': 'application/json', 'content-length': body.length };
const chunk = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]);
const streams = new Set<Socket>();

const server = createServer({ cert: serving.certificate, key: serving.key }, ({ url, socket }, response) => {
  if (url === '/stream') {
    streams.add(socket.setNoDelay(true));
    socket.on('close', () => streams.delete(socket));
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    return;
  }
  if (url === '/send') for (const stream of streams) stream.write(chunk);
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('SIGTERM', () => process.exit(0));
