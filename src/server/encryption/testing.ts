// A key management plugin for tests: KMS v2 and v1 by gRPC on a Unix socket, with keys that can be rotated and failures that can be switched on.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { ServerHttp2Stream } from 'node:http2';
import { MessageReader, MessageWriter } from '../../grpc/index.ts';
import { serveCalls } from '../testing.ts';

/** A plugin that runs. */
export interface TestPlugin {
  readonly path: string;
  /** Calls by method since the start. */
  readonly calls: Readonly<Record<string, number>>;
  /** What calls were sent to. */
  readonly authorities: Set<string>;
  /** The id of the key that encrypts. */
  keyId: string;
  /** What Status says of its health. */
  healthz: string;
  /** Another plugin's name for its protocol. */
  version: string;
  /** Calls of these methods fail with this status and message. */
  readonly failures: Map<string, readonly [code: number, message: string]>;
  /** Answers calls in place of the plugin. */
  instead: ((stream: ServerHttp2Stream) => void) | undefined;
  close(): Promise<void>;
}

/** Keys are made of their ids, so that plugins of one test understand each other. */
const keyOf = (id: string): Buffer => createHash('sha256').update(id).digest();

/** Listens on the socket until it is closed. */
export async function startTestPlugin(path: string): Promise<TestPlugin> {
  const calls: Record<string, number> = { Status: 0, Encrypt: 0, Decrypt: 0 };
  const plugin: Omit<TestPlugin, 'close'> = {
    path, calls, authorities: new Set(), keyId: '1', healthz: 'ok', version: 'v2', failures: new Map(), instead: undefined,
  };
  const server = await serveCalls(path, (method, message, headers) => {
    const name = method.replace('v2.KeyManagementService/', '').replace('v1beta1.KeyManagementService/', 'v1/');
    plugin.authorities.add(String(headers[':authority']));
    calls[name] = (calls[name] ?? 0) + 1;
    return plugin.instead ?? plugin.failures.get(name) ?? respond(plugin, { name, message });
  });
  return Object.assign(plugin, server);
}

const NAME = 'keys.example.com';

type Spoken = Pick<TestPlugin, 'version' | 'healthz' | 'keyId'>;

function respond({ version, healthz, keyId }: Spoken, { name, message }: { readonly name: string; readonly message: Buffer }): Buffer {
  if (name === 'Status') return new MessageWriter().bytes(1, version).bytes(2, healthz).bytes(3, keyId).finish();
  if (name === 'v1/Version') return new MessageWriter().bytes(1, version === 'v2' ? 'v1beta1' : version).finish();
  const fields = new Map<number, Uint8Array>();
  const reader = new MessageReader(message);
  for (let field = reader.next(); field !== 0; field = reader.next()) fields.set(field, reader.bytes());
  // The first version of the protocol has its version in front, and nothing but the bytes in answers.
  const isFirst = name.startsWith('v1/');
  const given = fields.get(isFirst ? 2 : 1) ?? new Uint8Array(0);
  if (name === 'v1/Encrypt') return new MessageWriter().bytes(1, encrypt(keyId, given)).finish();
  if (name === 'v1/Decrypt') return new MessageWriter().bytes(1, decrypt(keyId, given)).finish();
  if (name === 'Encrypt') {
    const sealed = encrypt(keyId, given);
    return new MessageWriter().bytes(1, sealed).bytes(2, keyId).message(3, (entry) => void entry.bytes(1, NAME).bytes(2, 'aes-256-gcm')).finish();
  }
  return new MessageWriter().bytes(1, decrypt(Buffer.from(fields.get(3) ?? []).toString(), given)).finish();
}

function encrypt(keyId: string, plain: Uint8Array): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(keyId), nonce);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(keyId: string, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', keyOf(keyId), sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(sealed.length - 16));
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
}
