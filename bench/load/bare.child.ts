// The yardstick: what Node can do with TLS and these bytes when nothing else is to be done.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock, systemRandom } from '../../src/base/index.ts';
import { preparePki } from '../../src/server/pki.ts';

const body = readFileSync(process.argv[2] as string);
const { serving } = preparePki({ clock: systemClock, random: systemRandom, directory: '', addresses: [], serviceRange: '10.0.0.0/24' });
const headers = { 'content-type': 'application/json', 'content-length': body.length };
const server = createServer({ cert: serving.certificate, key: serving.key }, (_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('SIGTERM', () => process.exit(0));
