// A kubelet for tests: it answers as the test says, keeps what it was asked, and leaves upgraded connections to the test.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Server, createServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { systemClock, systemRandom } from '../../base/index.ts';
import { createCertificate } from '../tls/certificates.ts';

const context = { clock: systemClock, random: systemRandom };
const LIFETIME_MS = 86_400_000;

/** The authority of the test's certificates. */
export const authority = createCertificate({ commonName: 'authority', lifetimeMs: LIFETIME_MS }, context);
const serving = createCertificate({ commonName: 'kubelet', hosts: ['127.0.0.1'], issuer: authority, lifetimeMs: LIFETIME_MS }, context);

/** Answers as a kubelet. */
export class FakeKubelet {
  readonly requests: IncomingMessage[] = [];
  /** Answers plain requests. */
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => void response.end();
  /** Answers requests for an upgrade. */
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void = (_request, socket) => void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  readonly #sockets = new Set<Duplex>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer({ cert: serving.certificate, key: serving.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false });
    this.#server.on('secureConnection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.requests.push(request);
      this.answer(request, response);
    });
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.requests.push(request);
      this.upgrade(request, socket, head);
    });
  }

  /** Connections that are open. */
  get connectionCount(): number {
    return this.#sockets.size;
  }

  /** Resolves with the port. */
  listen(host = '127.0.0.1'): Promise<number> {
    return new Promise((resolve) => this.#server.listen(0, host, () => resolve((this.#server.address() as { port: number }).port)));
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** Sends requests as an administrator. */
interface Requests {
  request(request: { readonly method: string; readonly path: string; readonly body: object }): Promise<unknown>;
}

interface NodeOptions {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly features?: readonly string[];
}

/** Creates a node whose kubelet is at an address. */
export async function createNode(server: Requests, { name, address, port, features = [] }: NodeOptions): Promise<void> {
  await server.request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name } } });
  const status = { addresses: [{ type: 'InternalIP', address }], daemonEndpoints: { kubeletEndpoint: { Port: port } }, declaredFeatures: features };
  await server.request({ method: 'PATCH', path: `/api/v1/nodes/${name}/status`, body: { status } });
}

interface PodOptions {
  readonly name: string;
  readonly node?: string;
  readonly spec?: object;
  readonly ip?: string;
}

/** Creates a pod on a node. */
export async function createPod(server: Requests, { name, node, ip, spec }: PodOptions): Promise<void> {
  const containers = [{ name: 'main', image: 'x' }];
  const body = { metadata: { name }, spec: { automountServiceAccountToken: false, containers, ...(node !== undefined && { nodeName: node }), ...spec } };
  const path = '/api/v1/namespaces/default/pods';
  await server.request({ method: 'POST', path, body });
  if (ip === undefined) return;
  await server.request({ method: 'PATCH', path: `${path}/${name}/status`, body: { status: { podIP: ip, podIPs: [{ ip }] } } });
}
