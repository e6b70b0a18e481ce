// The keys of service account tokens that another program signs (--service-account-signing-endpoint). Public keys are asked for at the start, again when
// the signer's hint says so, and when a token names one that is not known; the last ones that came stay in use while the signer does not answer.
import { type Clock, type Timer, formatDurationNanos, isJsonObject } from '../../base/index.ts';
import type { VerifyingKey } from '../../auth/index.ts';
import { internalError } from '../../apimachinery/index.ts';
import { ABSTRACT_REFUSED, reachesAbstractSockets } from '../config-files/config-file.ts';
import type { Logger } from '../observability/logger.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import { type ServiceAccountKeys, describeKey } from '../tls/service-account-keys.ts';
import { ExternalSigner, type SignerKey, type SignerKeys } from './external-signer.ts';
import type { SignerMetrics } from './signer-metrics.ts';

const CALL_MS = 60_000;
const SHORTEST_LIFE_SECONDS = 600;
const FALLBACK_REFRESH_MS = 10_000;
const MAX_KEY_ID_LENGTH = 1024;
const NANOS_PER_SECOND = 1e9;
const NANOS_PER_MS = 1e6;

/** Algorithms that a token may be signed with. */
const algorithms: ReadonlySet<unknown> = new Set(['RS256', 'ES256', 'ES384', 'ES512']);

type SignerOptions = Pick<ServerOptions, 'serviceAccountSigningEndpoint' | 'serviceAccountMaxTokenExpirationMs' | 'clock' | 'logger'>;

const describe = (what: string, { message }: Error): string => `while ${what}: ${message}`;

/** Connects to the signer. Rejects with StartError when it does not answer within a minute, or not as it should. */
export async function openExternalKeys(options: SignerOptions, metrics: SignerMetrics): Promise<ServiceAccountKeys> {
  const { serviceAccountSigningEndpoint: endpoint, serviceAccountMaxTokenExpirationMs: limitMs, clock, logger } = options;
  if (endpoint.startsWith('@') && !reachesAbstractSockets()) throw new StartError(`--service-account-signing-endpoint: ${ABSTRACT_REFUSED}`);
  const path = endpoint.startsWith('@') ? `\0${endpoint.slice(1)}` : endpoint;
  const signer = new ExternalSigner({ path, timeoutMs: CALL_MS, clock, observe: metrics.observe });
  const keys = new ExternalKeys({ signer, clock, logger, metrics });
  const fail = (what: string) => (error: Error): never => {
    keys.stop();
    throw new StartError(describe(what, error), { cause: error });
  };
  await keys.renew().catch(fail('setting up external-jwt-signer: while initially filling key cache: while performing initial cache fill'));
  const longestSeconds = await signer.readLongestSeconds().catch(fail('setting up external-jwt-signer'));
  const problem = findProblem(longestSeconds, limitMs);
  if (problem !== undefined) {
    keys.stop();
    throw new StartError(problem);
  }
  keys.longestSeconds = longestSeconds;
  keys.follow();
  return keys;
}

function findProblem(longestSeconds: number, limitMs: number): string | undefined {
  if (longestSeconds < SHORTEST_LIFE_SECONDS) {
    return `max token life supported by external-jwt-signer (${longestSeconds}s) is less than acceptable (min ${SHORTEST_LIFE_SECONDS}s)`;
  }
  if (limitMs <= longestSeconds * 1000) return undefined;
  const [wanted, possible] = [formatDurationNanos(limitMs * NANOS_PER_MS), formatDurationNanos(longestSeconds * NANOS_PER_SECOND)];
  return `service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: ${wanted} > ${possible}`;
}

interface ExternalKeysParts {
  readonly signer: ExternalSigner;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: SignerMetrics;
}

class ExternalKeys implements ServiceAccountKeys {
  readonly #parts: ExternalKeysParts;
  #known: SignerKeys = { keys: [], dataSeconds: 0, refreshSeconds: 0 };
  #refreshAtMs = 0;
  #renewing: Promise<readonly SignerKey[]> | undefined;
  #timer: Timer | undefined;
  #isOver = false;
  longestSeconds = 0;

  constructor(parts: ExternalKeysParts) {
    this.#parts = parts;
  }

  async sign(claims: Readonly<Record<string, unknown>>): Promise<string> {
    const { metrics } = this.#parts;
    try {
      const token = await this.#sign(Buffer.from(JSON.stringify(claims)).toString('base64url'));
      metrics.signed();
      return token;
    } catch (error) {
      metrics.signed(error);
      throw internalError(`failed to generate token: ${(error as Error).message}`);
    }
  }

  verifying(): Promise<readonly VerifyingKey[]> {
    return Promise.resolve(this.#known.keys);
  }

  /** One question for all that ask at the same time. */
  renew(): Promise<readonly SignerKey[]> {
    return this.#renewing ??= this.#fetch().finally(() => {
      this.#renewing = undefined;
    });
  }

  publish(): ReturnType<ServiceAccountKeys['publish']> {
    return Promise.resolve({ keys: this.#known.keys.filter(({ isExcluded }) => !isExcluded).map(describeKey) });
  }

  maxAgeSeconds(): number {
    return Math.max(0, Math.trunc((this.#refreshAtMs - this.#parts.clock.now()) / 1000));
  }

  /** Asks for the keys again when the signer wants it. */
  follow(): void {
    const { clock } = this.#parts;
    this.#schedule(this.#refreshAtMs - clock.now());
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#parts.signer.close();
  }

  #schedule(pauseMs: number): void {
    const { clock, logger } = this.#parts;
    if (this.#isOver) return;
    this.#timer = clock.after(Math.max(0, pauseMs), () => {
      this.renew().then(() => this.follow(), (error: Error) => {
        if (!this.#isOver) logger.error('the keys of the external signer are not renewed: those from before stay in use', { error: error.message });
        this.#schedule(FALLBACK_REFRESH_MS);
      });
    });
  }

  async #fetch(): Promise<readonly SignerKey[]> {
    const { signer, clock, metrics } = this.#parts;
    try {
      const fetched = await signer.fetchKeys();
      // Tokens that were verified with the same keys stay verified.
      this.#known = isSame(this.#known.keys, fetched.keys) ? { ...fetched, keys: this.#known.keys } : fetched;
      this.#refreshAtMs = clock.now() + fetched.refreshSeconds * 1000;
      metrics.fetched({ dataSeconds: fetched.dataSeconds });
      return this.#known.keys;
    } catch (error) {
      metrics.fetched({ error });
      throw new Error(describe('fetching token verification keys', error as Error), { cause: error });
    }
  }

  async #sign(claims: string): Promise<string> {
    const { header, signature } = await this.#parts.signer.sign(claims).catch((error: Error) => {
      throw new Error(describe('signing jwt', error), { cause: error });
    });
    try {
      await this.#checkHeader(header);
    } catch (error) {
      throw new Error(describe('validating header', error as Error), { cause: error });
    }
    if (signature === '') throw new Error('empty signature returned');
    return `${header}.${claims}.${signature}`;
  }

  async #checkHeader(text: string): Promise<void> {
    const keyId = readKeyId(text);
    const named = (keys: readonly SignerKey[]): SignerKey[] => keys.filter((key) => key.keyId === keyId);
    let found = named(this.#known.keys);
    if (found.length === 0) found = named(await this.renew().catch(() => []));
    if (found.some(({ isExcluded }) => isExcluded)) throw new Error(`key used for signing JWT (kid: ${keyId}) is excluded from OIDC discovery docs`);
  }
}

/** The key that a header names, which must have what a token of this API has and no more. */
function readKeyId(text: string): string {
  const wrong = /[^\w-]/.exec(text);
  if (wrong !== null) throw new Error(`while unwrapping header: illegal base64 data at input byte ${wrong.index}`);
  let header: unknown;
  try {
    header = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch (error) {
    throw new Error(describe('parsing header JSON', error as Error), { cause: error });
  }
  if (!isJsonObject(header)) throw new Error('while parsing header JSON: it is no object');
  const { alg, kid = '', typ, ...others } = header;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`while parsing header JSON: json: unknown field ${JSON.stringify(unknown)}`);
  if (typ !== 'JWT') throw new Error('bad type');
  if (typeof kid !== 'string' || kid === '') throw new Error('key id missing');
  if (Buffer.byteLength(kid) > MAX_KEY_ID_LENGTH) throw new Error('key id longer than 1 kb');
  if (!algorithms.has(alg)) throw new Error(`bad signing algorithm ${JSON.stringify(alg ?? '')}`);
  return kid;
}

const isSame = (one: readonly SignerKey[], other: readonly SignerKey[]): boolean => one.length === other.length
  && one.every(({ keyId, isExcluded, publicKey }, index) => keyId === other[index]!.keyId && isExcluded === other[index]!.isExcluded
    && publicKey.equals(other[index]!.publicKey));
