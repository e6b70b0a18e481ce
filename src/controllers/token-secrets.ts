// Secrets of type kubernetes.io/service-account-token: filled with a token, the authority and the namespace while their service account exists,
// removed when it does not. Mirrors kube-controller-manager's serviceaccount-token controller, and kube-apiserver's record of when such a token was
// last used.
import type { KubeObject } from '../apimachinery/index.ts';
import type { SecretTokenAccount } from '../auth/index.ts';
import { type ObjectVersion, type Predicate, startInformer } from '../registry/index.ts';
import { type ObjectKey, createClientFor, hasReason, isTerminating } from './client.ts';
import type { ControllerContext } from './context.ts';
import { WorkQueue } from './work-queue.ts';

const secretType = 'kubernetes.io/service-account-token';
const nameAnnotation = 'kubernetes.io/service-account.name';
const uidAnnotation = 'kubernetes.io/service-account.uid';
const lastUsedLabel = 'kubernetes.io/legacy-token-last-used';

/** Signs the token of a Secret. */
export type SignSecretToken = (account: SecretTokenAccount) => Promise<string>;

interface TokenSecretsOptions {
  readonly sign: SignSecretToken;
  /** PEM; '' leaves `ca.crt` out. */
  readonly authority: string;
}

/** The running controller. */
export interface TokenSecrets {
  /** Records that a token of this Secret was used today. */
  noteUse(secret: KubeObject): void;
  stop(): Promise<void>;
}

const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
const isTokenSecret = (object: KubeObject | undefined): object is KubeObject => object?.['type'] === secretType;
const tokenSecrets: Predicate = { everything: false, matches: (version: ObjectVersion) => isTokenSecret(version.object('v1')) };
const keyOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

/** Starts the controller. */
export function createTokenSecrets(context: ControllerContext, options: TokenSecretsOptions): TokenSecrets {
  const { registry, clock } = context;
  const secrets = createClientFor(context, ['', 'v1', 'secrets'], 'kube-controller-manager');
  const accounts = createClientFor(context, ['', 'v1', 'serviceaccounts'], 'kube-controller-manager');
  const report = (key: string) => (error: unknown) => context.report('serviceaccount-token', key, error);
  const queue = new WorkQueue({
    clock, concurrency: 4, onError: (key, error) => report(key)(error),
    async work(key) {
      const [namespace = '', name = ''] = key.split('/', 2);
      try {
        await settle({ namespace, name });
      } catch (error) {
        if (!isTerminating(error) && !hasReason(error, 'NotFound')) throw error;
      }
    },
  });
  const settle = async (key: ObjectKey): Promise<void> => {
    const secret = await secrets.get(key);
    if (!isTokenSecret(secret)) return;
    const accountName = secret.metadata.annotations?.[nameAnnotation] ?? '';
    const account = accountName === '' ? undefined : await accounts.get({ namespace: key.namespace, name: accountName });
    const claimed = secret.metadata.annotations?.[uidAnnotation] ?? '';
    if (account === undefined || (claimed !== '' && claimed !== account.metadata.uid)) return secrets.delete(key);
    if (isComplete(secret, account, options.authority)) return undefined;
    const held = readData(secret)['token'];
    const uid = account.metadata.uid ?? '';
    const token = held ? held : encode(await options.sign({ namespace: key.namespace, name: accountName, uid, secret: key.name }));
    await secrets.update(key, '', (current) => fill(current, { token, uid, namespace: key.namespace, authority: options.authority }));
    return undefined;
  };
  const informers = [
    startInformer({
      registry, clock, target: secrets.target(''), predicate: tokenSecrets, onError: report(''), listeners: [(_type, object) => queue.add(keyOf(object))],
    }),
    startInformer({
      registry, clock, target: accounts.target(''), onError: report(''),
      listeners: [(type, account) => {
        if (type === 'deleted') void addSecretsOf(account).catch(report(account.name));
      }],
    }),
  ];
  const addSecretsOf = async ({ namespace, name }: ObjectVersion): Promise<void> => {
    for (const secret of await secrets.list(namespace)) {
      if (isTokenSecret(secret) && secret.metadata.annotations?.[nameAnnotation] === name) queue.add(keyOf({ namespace, name: secret.metadata.name ?? '' }));
    }
  };
  const noted = new Set<string>();
  return {
    noteUse(secret) {
      const today = new Date(clock.now()).toISOString().slice(0, 10);
      const key = { namespace: secret.metadata.namespace ?? '', name: secret.metadata.name ?? '' };
      if (secret.metadata.labels?.[lastUsedLabel] === today || noted.has(keyOf(key))) return;
      noted.add(keyOf(key));
      const mark = (current: KubeObject): KubeObject =>
        ({ ...current, metadata: { ...current.metadata, labels: { ...current.metadata.labels, [lastUsedLabel]: today } } });
      void secrets.update(key, '', mark).catch(report(keyOf(key))).finally(() => noted.delete(keyOf(key)));
    },
    stop() {
      for (const informer of informers) informer.stop();
      return queue.stop();
    },
  };
}

const readData = (secret: KubeObject): Readonly<Record<string, string>> => (secret['data'] ?? {}) as Record<string, string>;

function isComplete(secret: KubeObject, account: KubeObject, authority: string): boolean {
  const data = readData(secret);
  const hasAuthority = authority === '' || data['ca.crt'] === encode(authority);
  return Boolean(data['token']) && Boolean(data['namespace']) && hasAuthority && secret.metadata.annotations?.[uidAnnotation] === account.metadata.uid;
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
    metadata: { ...secret.metadata, annotations: { ...secret.metadata.annotations, [uidAnnotation]: uid } },
    data: {
      ...data, ...(authority !== '' && { 'ca.crt': encode(authority) }), namespace: data['namespace'] || encode(namespace), token: data['token'] || token,
    },
  };
}
