// A webhook of the benches: it allows every request, and under `/mutate` sets a label; `/last` answers the last review that came.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock, systemRandom } from '../../src/base/index.ts';
import { preparePki } from '../../src/server/tls/pki.ts';

const { serving, authority } = preparePki({ clock: systemClock, random: systemRandom, directory: '', addresses: [], serviceRange: '10.0.0.0/24' });
const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/metadata/labels/hooked', value: 'yes' }])).toString('base64');
const type = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' };

let last = '';

const answer = (path: string, body: string): string => {
  if (path.startsWith('/last')) return last;
  last = body;
  const { uid } = (JSON.parse(body) as { readonly request: { readonly uid: string } }).request;
  return JSON.stringify({ ...type, response: { uid, allowed: true, ...(path.startsWith('/mutate') && { patchType: 'JSONPatch', patch }) } });
};

const server = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
    const body = Buffer.from(answer(request.url ?? '', Buffer.concat(chunks).toString()));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port, authority: authority.certificate }));
process.on('SIGTERM', () => process.exit(0));
