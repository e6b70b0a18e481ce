// Objects of a namespace on servers behind APIServices, listed and deleted when the namespace ends, as the reference's namespace controller does
// through the API server.
import { type ObjectMeta, failure } from '../../apimachinery/index.ts';
import type { AggregatedContent } from '../../controllers/index.ts';
import { type RemoteVersion, encodePath, encodeQuery } from '../../endpoints/index.ts';
import type { DeleteOptions } from '../../registry/index.ts';
import { parseAnswer } from '../webhooks/read-answer.ts';
import type { HttpAnswer } from '../webhooks/http-call.ts';

/** A request in the name of a user of the system's. */
export interface Question {
  readonly path: string;
  readonly user: { readonly name: string; readonly groups: readonly string[] };
  readonly accept?: string;
  /** GET unless it says otherwise. */
  readonly method?: string;
  /** JSON. */
  readonly body?: Uint8Array;
}

type Ask = (question: Question) => Promise<HttpAnswer>;

const user = {
  name: 'system:serviceaccount:kube-system:namespace-controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
};
const METADATA_TYPES = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const PAGE_ITEMS = 500;
/** A namespace with so many objects is not empty; how many more there are makes no difference. */
const MOST_ITEMS = 10_000;
/** A list with so many pages is not read to its end: a server might say for ever that there are more. */
const MOST_PAGES = 100;
const SHOWN_BYTES = 200;
const NOT_FOUND = 404;
const METHOD_NOT_ALLOWED = 405;

interface Page {
  readonly items?: readonly { readonly metadata?: ObjectMeta }[];
  readonly metadata?: { readonly continue?: string };
}

interface RemoteResource {
  readonly resource?: unknown;
  readonly scope?: unknown;
  readonly verbs?: unknown;
}

/** The namespaced resources of a version that can be listed and deleted; none while its server cannot be asked what it has. */
export function listContents({ group, version, discovery }: RemoteVersion, ask: Ask): AggregatedContent[] {
  if (discovery?.isFresh !== true) return [];
  return (discovery.resources as readonly RemoteResource[]).flatMap(({ resource, scope, verbs }) => {
    const can = (verb: string): boolean => Array.isArray(verbs) && verbs.includes(verb);
    if (typeof resource !== 'string' || scope !== 'Namespaced' || !can('list') || !can('delete')) return [];
    return [new Content({ group, version, plural: resource }, ask)];
  });
}

class Content implements AggregatedContent {
  readonly group: string;
  readonly plural: string;
  readonly #version: string;
  readonly #ask: Ask;

  constructor({ group, version, plural }: { readonly group: string; readonly version: string; readonly plural: string }, ask: Ask) {
    this.group = group;
    this.plural = plural;
    this.#version = version;
    this.#ask = ask;
  }

  async *each(namespace: string): AsyncGenerator<ObjectMeta> {
    let found = 0;
    let token: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const query = encodeQuery([['limit', String(PAGE_ITEMS)], ...(token === undefined ? [] : [['continue', token] as const])]);
      const page = await this.#send({ path: `${this.#path(namespace)}?${query}`, accept: METADATA_TYPES }) as Page | undefined;
      for (const { metadata = {} } of page?.items ?? []) yield metadata;
      found += page?.items?.length ?? 0;
      token = page?.metadata?.continue || undefined;
      if (token === undefined || found >= MOST_ITEMS) return;
    }
    if (found === 0) throw new Error(`${MOST_PAGES} pages are empty and more are to come`);
  }

  async deleteAll(namespace: string, options: DeleteOptions): Promise<void> {
    const body = Buffer.from(JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', ...options }));
    const path = this.#path(namespace);
    if (await this.#send({ path, method: 'DELETE', body }) !== undefined) return;
    for await (const { name = '' } of this.each(namespace)) {
      await this.#send({ path: `${path}/${encodeURIComponent(name)}`, method: 'DELETE', body });
    }
  }

  #path(namespace: string): string {
    return encodePath(`/apis/${this.group}/${this.#version}/namespaces/${namespace}/${this.plural}`);
  }

  /** What an answer says; undefined where its server does not know the object, the resource or the method. */
  async #send(question: Omit<Question, 'user'>): Promise<unknown> {
    const { status, body } = await this.#ask({ accept: 'application/json', ...question, user });
    if (status === NOT_FOUND || status === METHOD_NOT_ALLOWED) return undefined;
    if (status >= 200 && status < 300) return parseAnswer(body);
    const shown = JSON.stringify(body.toString('utf8', 0, SHOWN_BYTES));
    throw failure(status, '', readMessage(body) ?? `an error on the server (${shown}) has prevented the request from succeeding`);
  }
}

function readMessage(body: Uint8Array): string | undefined {
  try {
    const { message } = parseAnswer(body) as { readonly message?: unknown };
    return typeof message === 'string' && message !== '' ? message : undefined;
  } catch {
    return undefined;
  }
}
