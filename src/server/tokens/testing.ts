// A program that signs service account tokens, for tests: keys that can be rotated, and answers that can be wrong.
import { type KeyObject, generateKeyPairSync, sign } from 'node:crypto';
import { MessageReader, MessageWriter } from '../../grpc/index.ts';
import { serveCalls } from '../testing.ts';

interface TestKey {
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly isExcluded?: boolean;
}

/** A signer that runs. */
export interface TestSigner {
  /** Calls by method since the start. */
  readonly calls: Readonly<Record<string, number>>;
  /** What FetchKeys answers. */
  keys: readonly TestKey[];
  /** The key that signs. */
  signing: TestKey;
  refreshSeconds: number;
  longestSeconds: number;
  /** Members of the header of a token in place of the right ones. */
  header: Readonly<Record<string, unknown>>;
  /** Stands for the signature. */
  signature: string | undefined;
  /** Calls of these methods fail with this status and message. */
  readonly failures: Map<string, readonly [code: number, message: string]>;
  close(): Promise<void>;
}

/** A new pair. */
export function makeTestKey(keyId: string, isExcluded = false): TestKey {
  return { keyId, isExcluded, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
}

const DATA_SECONDS = 1_700_000_000;

/** Listens on the socket until it is closed. */
export async function startTestSigner(path: string): Promise<TestSigner> {
  const calls: Record<string, number> = { Sign: 0, FetchKeys: 0, Metadata: 0 };
  const first = makeTestKey('key-1');
  const signer: Omit<TestSigner, 'close'> = {
    calls, keys: [first], signing: first, refreshSeconds: 300, longestSeconds: 7200, header: {}, signature: undefined, failures: new Map(),
  };
  const server = await serveCalls(path, (method, message) => {
    const name = method.replace('v1.ExternalJWTSigner/', '');
    calls[name] = (calls[name] ?? 0) + 1;
    return signer.failures.get(name) ?? respond(signer, { name, message });
  });
  return Object.assign(signer, server);
}

function respond(signer: Omit<TestSigner, 'close'>, { name, message }: { readonly name: string; readonly message: Buffer }): Buffer {
  if (name === 'Metadata') return new MessageWriter().number(1, signer.longestSeconds).finish();
  if (name === 'FetchKeys') {
    const writer = new MessageWriter();
    for (const { keyId, publicKey, isExcluded = false } of signer.keys) {
      const der = publicKey.export({ type: 'spki', format: 'der' });
      writer.message(1, (key) => void key.bytes(1, keyId).bytes(2, der).flag(3, isExcluded));
    }
    return writer.message(2, (at) => void at.number(1, DATA_SECONDS)).number(3, signer.refreshSeconds).finish();
  }
  const reader = new MessageReader(message);
  let claims = '';
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) claims = reader.text();
    else reader.skip();
  }
  const { keyId, privateKey } = signer.signing;
  const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid: keyId, typ: 'JWT', ...signer.header })).toString('base64url');
  const signature = sign('sha256', Buffer.from(`${header}.${claims}`), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  return new MessageWriter().bytes(1, header).bytes(2, signer.signature ?? signature).finish();
}
