// Attacks by client certificates, which a client may show without being known: long chains whose signatures are dear to verify, certificates of 60 KB, and
// clients that want to begin the handshake again.
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import {
  encodeBits, encodeElement, encodeInteger, encodeOctets, encodeOid, encodeSequence, encodeSet, encodeTime, encodeTrue, encodeUtf8,
} from '../../../src/server/tls/der.ts';
import { type Attack, CONFIG_MAPS, type Victim, describe, ignoreErrorsBelow, send } from '../attack.ts';

const DAY_MS = 86_400_000;
const oids = {
  commonName: '2.5.4.3', organization: '2.5.4.10', basicConstraints: '2.5.29.19', subjectAltName: '2.5.29.17',
  ecdsaWithSha256: '1.2.840.10045.4.3.2', rsaWithSha256: '1.2.840.113549.1.1.11',
};
const names = (oid: string, values: readonly string[]): Buffer =>
  encodeSequence(...values.map((value) => encodeSet(encodeSequence(encodeOid(oid), encodeUtf8(value)))));

interface Made {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly key: KeyObject;
  readonly extensions?: readonly Buffer[];
}

const authority = encodeSequence(encodeOid(oids.basicConstraints), encodeTrue(), encodeOctets(encodeSequence(encodeTrue())));

/** A certificate of the key, signed by it. */
function makeCertificate({ subject, issuer, key, extensions = [] }: Made): string {
  const isRsa = key.asymmetricKeyType === 'rsa';
  const algorithm = isRsa ? encodeSequence(encodeOid(oids.rsaWithSha256), encodeElement(0x05)) : encodeSequence(encodeOid(oids.ecdsaWithSha256));
  const body = encodeSequence(
    encodeElement(0xa0, encodeInteger(Uint8Array.of(2))), encodeInteger(randomBytes(8)), algorithm, issuer,
    encodeSequence(encodeTime(Date.now() - DAY_MS), encodeTime(Date.now() + DAY_MS)), subject,
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [encodeElement(0xa3, encodeSequence(...extensions))]));
  const whole = encodeSequence(body, algorithm, encodeBits(sign('sha256', body, key)));
  return `-----BEGIN CERTIFICATE-----\n${(whole.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;
}

const toBytes = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(Math.ceil(value.toString(16).length / 2) * 2, '0'), 'hex');
const fromBase64 = (text = ''): bigint => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);

function invert(value: bigint, modulus: bigint): bigint | undefined {
  let [r0, r1, t0, t1] = [modulus, value, 0n, 1n];
  while (r1 !== 0n) [r0, r1, t0, t1] = [r1, r0 % r1, t1, t0 - (r0 / r1) * t1];
  return r0 === 1n ? ((t0 % modulus) + modulus) % modulus : undefined;
}

/** An RSA key whose public exponent is as long as its modulus: each check of a signature costs as much as making one. */
function makeSlowKey(): KeyObject {
  const { n, p, q } = generateKeyPairSync('rsa', { modulusLength: 3072 }).privateKey.export({ format: 'jwk' });
  const [first, second] = [fromBase64(p), fromBase64(q)];
  const order = (first - 1n) * (second - 1n);
  for (;;) {
    const exponent = BigInt(`0x${randomBytes(383).toString('hex')}`) | 1n;
    const secret = invert(exponent, order);
    if (secret === undefined) continue;
    const text = (value: bigint): string => toBytes(value).toString('base64url');
    return createPrivateKey({ format: 'jwk', key: { kty: 'RSA', n: n as string, e: text(exponent), d: text(secret), p: p as string, q: q as string,
      dp: text(secret % (first - 1n)), dq: text(secret % (second - 1n)), qi: text(invert(second, first) ?? 0n) } });
  }
}

interface Shown {
  readonly cert: string;
  readonly key: string;
}

const shown = (cert: string, key: KeyObject): Shown => ({ cert, key: key.export({ type: 'pkcs8', format: 'pem' }) as string });

/** A leaf and those above it, each of which names the next; the last names one that is not shown. */
function makeChain(length: number, key: KeyObject): Shown {
  const name = (index: number): Buffer => names(oids.commonName, [`chain ${index}`]);
  return shown(Array.from({ length }, (_, index) => makeCertificate({
    subject: name(index), issuer: name(index + 1), key, ...(index > 0 && { extensions: [authority] }) })).join(''), key);
}

/** Connects with a certificate and asks for a list; resolves with the first line of the answer, or why there is none. */
function ask({ url }: Victim, client: Shown): Promise<string> {
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = tls.connect({ host, port: Number(port), rejectUnauthorized: false, ...client }, () => {
      socket.write(`GET ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    });
    socket.once('data', (part: Buffer) => {
      resolve(part.toString('latin1').split('\r\n')[0] ?? '');
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message)).on('close', () => resolve('closed'));
  });
}

/** Clients one after the other, each of which shows the same: none is taken for a user. */
function certificateAttack(name: string, count: number, make: () => Shown): Attack {
  return {
    number: '63', name,
    async run(victim) {
      const client = make();
      const answers = new Set<string>();
      for (let index = 0; index < count; index++) answers.add(await ask(victim, client));
      const answer = await send(victim, { path: CONFIG_MAPS });
      const isRefused = ![...answers].some((one) => one.includes(' 200 '));
      return { holds: answer.status === 200 && isRefused, answer: `${[...answers].join(', ')}, then ${describe(answer)}` };
    },
  };
}

const fastKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** Clients of TLS 1.2 that ask for another handshake over and over. */
const renegotiation: Attack = {
  number: '63', name: '2,000 handshakes that are to begin again',
  async run(victim) {
    const { hostname: host, port } = new URL(victim.url);
    let tries = 0;
    for (let connection = 0; connection < 20; connection++) {
      const socket = tls.connect({ host, port: Number(port), rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
      ignoreErrorsBelow(undefined, socket);
      await new Promise((resolve) => socket.once('secureConnect', resolve).once('close', resolve));
      for (let round = 0; round < 100 && !socket.destroyed; round++) {
        tries++;
        await Promise.race([new Promise((resolve) => socket.renegotiate({}, resolve)), sleep(20)]).catch(() => {});
      }
      socket.destroy();
    }
    const answer = await send(victim, { path: CONFIG_MAPS });
    return { holds: answer.status === 200, answer: `${tries} tried, then ${describe(answer)}` };
  },
};

/** What clients show before they are known. */
export const certificateAttacks: readonly Attack[] = [
  certificateAttack('10 chains of 60 certificates with long exponents', 10, () => makeChain(60, makeSlowKey())),
  certificateAttack('20 chains of 90 certificates of P-521', 20, () => makeChain(90, generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey)),
  certificateAttack('20 chains of 250 certificates', 20, () => makeChain(250, fastKey())),
  certificateAttack('50 certificates of 5,000 names', 50, () => {
    const [key, name] = [fastKey(), names(oids.commonName, ['alice'])];
    const hosts = Array.from({ length: 5000 }, (_, index) => encodeElement(0x82, Buffer.from(`host${index}.x`)));
    return shown(makeCertificate({ subject: name, issuer: name, key, extensions: [
      encodeSequence(encodeOid(oids.subjectAltName), encodeOctets(encodeSequence(...hosts)))] }), key);
  }),
  certificateAttack('50 certificates of 3,000 organizations', 50, () => {
    const [key, name] = [fastKey(), names(oids.organization, Array.from({ length: 3000 }, (_, index) => `group${index}`))];
    return shown(makeCertificate({ subject: name, issuer: names(oids.commonName, ['nobody']), key }), key);
  }),
  renegotiation,
];
