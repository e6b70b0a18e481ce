// Secrets of type kubernetes.io/service-account-token: filled with a token, the authority and the namespace while their service account exists,
// removed when it does not. Mirrors kube-controller-manager's serviceaccount-token controller.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { SecretTokenAccount } from '../../auth/index.ts';
import { createTimeSlice } from '../../base/index.ts';
import {
  type ObjectKey, type Predicate, type Reflector, type SystemClient, type StoredObject, WorkQueue, createSystemClient, hasReason, isTerminating, startReflector,
} from '../../registry/index.ts';
import type { Controller, ControllerContext } from '../context.ts';

/** How long a look at all Secrets of a namespace holds the event loop at a time. */
const SLICE_MS = 5;
const SECRET_TYPE = 'kubernetes.io/service-account-token';
const NAME_ANNOTATION = 'kubernetes.io/service-account.name';
const UID_ANNOTATION = 'kubernetes.io/service-account.uid';

/** Signs the token of a Secret. */
export type SignSecretToken = (account: SecretTokenAccount) => Promise<string>;

interface TokenSecretsOptions {
  readonly sign: SignSecretToken;
  /** PEM; '' leaves `ca.crt` out. */
  readonly authority: string;
}

const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
const isTokenSecret = (object: KubeObject | undefined): object is KubeObject => object?.['type'] === SECRET_TYPE;
/** Most Secrets are of another type: their bytes are looked through, not parsed. */
const readTokenSecret = (stored: StoredObject): KubeObject | undefined => {
  const secret = stored.contains(SECRET_TYPE) ? stored.object('v1') : undefined;
  return isTokenSecret(secret) ? secret : undefined;
};
const tokenSecrets: Predicate = { everything: false, matches: (version: StoredObject) => readTokenSecret(version) !== undefined };
const keyOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

class TokenSecretsController implements Pick<Controller, 'stop'> {
  readonly #context: ControllerContext;
  readonly #options: TokenSecretsOptions;
  readonly #secrets: SystemClient;
  readonly #accounts: SystemClient;
  readonly #queue: WorkQueue;
  readonly #reflectors: readonly Reflector[];

  constructor(context: ControllerContext, options: TokenSecretsOptions) {
    const { registry, clock } = context;
    this.#context = context;
    this.#options = options;
    this.#secrets = createSystemClient(context, ['', 'v1', 'secrets'], 'kube-controller-manager');
    this.#accounts = createSystemClient(context, ['', 'v1', 'serviceaccounts'], 'kube-controller-manager');
    this.#queue = new WorkQueue({
      observer: context.observeQueue?.('serviceaccount_tokens_secret'), clock, concurrency: 4, onError: (key, error) => this.#report(key, error),
      work: (key) => this.#work(key),
    });
    const shared = { registry, clock, onError: (error: unknown) => this.#report('', error) };
    this.#reflectors = [
      startReflector({
        ...shared, target: this.#secrets.target(''), predicate: tokenSecrets, onChange: (_type, object) => this.#queue.add(keyOf(object)),
      }),
      startReflector({
        ...shared, target: this.#accounts.target(''),
        onChange: (type, account) => {
          if (type === 'deleted') void this.#addSecretsOf(account).catch((error: unknown) => this.#report(account.name, error));
        },
      }),
    ];
  }

  stop(): Promise<void> {
    for (const reflector of this.#reflectors) reflector.stop();
    return this.#queue.stop();
  }

  #report(key: string, error: unknown): void {
    this.#context.report('serviceaccount-token', key, error);
  }

  async #work(key: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('/', 2);
    try {
      await this.#settle({ namespace, name });
    } catch (error) {
      if (!isTerminating(error) && !hasReason(error, 'NotFound')) throw error;
    }
  }

  /** Fills a Secret, or removes it when its account is not there. */
  async #settle(key: ObjectKey): Promise<void> {
    const { authority, sign } = this.#options;
    const secret = await this.#secrets.get(key);
    if (!isTokenSecret(secret)) return;
    const accountName = secret.metadata.annotations?.[NAME_ANNOTATION] ?? '';
    const account = accountName === '' ? undefined : await this.#accounts.get({ namespace: key.namespace, name: accountName });
    const claimed = secret.metadata.annotations?.[UID_ANNOTATION] ?? '';
    if (account === undefined || (claimed !== '' && claimed !== account.metadata.uid)) return this.#secrets.delete(key);
    if (isComplete(secret, account, authority)) return;
    const held = readData(secret)['token'];
    const uid = account.metadata.uid ?? '';
    const token = held ? held : encode(await sign({ namespace: key.namespace, name: accountName, uid, secret: key.name }));
    await this.#secrets.update(key, '', (current) => fill(current, { token, uid, namespace: key.namespace, authority }));
  }

  async #addSecretsOf({ namespace, name }: StoredObject): Promise<void> {
    for await (const secret of this.#secrets.each(namespace, createTimeSlice(this.#context.clock, SLICE_MS))) {
      if (readTokenSecret(secret)?.metadata.annotations?.[NAME_ANNOTATION] === name) this.#queue.add(keyOf(secret));
    }
  }
}

/** Starts the controller. */
export function createTokenSecrets(context: ControllerContext, options: TokenSecretsOptions): Pick<Controller, 'stop'> {
  return new TokenSecretsController(context, options);
}

const readData = (secret: KubeObject): Readonly<Record<string, string>> => (secret['data'] ?? {}) as Record<string, string>;

function isComplete(secret: KubeObject, account: KubeObject, authority: string): boolean {
  const data = readData(secret);
  const hasAuthority = authority === '' || data['ca.crt'] === encode(authority);
  return Boolean(data['token']) && Boolean(data['namespace']) && hasAuthority && secret.metadata.annotations?.[UID_ANNOTATION] === account.metadata.uid;
}

interface Filling {
  readonly token: string;
  readonly uid: string;
  readonly namespace: string;
  readonly authority: string;
}

function fill(secret: KubeObject, values: Filling): KubeObject {
  const { token, uid, namespace, authority } = values;
  const data = readData(secret);
  return {
    ...secret,
    metadata: { ...secret.metadata, annotations: { ...secret.metadata.annotations, [UID_ANNOTATION]: uid } },
    data: {
      ...data, ...(authority !== '' && { 'ca.crt': encode(authority) }), namespace: data['namespace'] || encode(namespace), token: data['token'] || token,
    },
  };
}
