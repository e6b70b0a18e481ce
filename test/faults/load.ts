// Clients of servers behind one address, at work while servers go and come: writers that repeat what failed, readers of lists, a watch that
// continues from where it was. Everything that they did and saw becomes a RunHistory, with resource versions as revisions.
import assert from 'node:assert/strict';
import { request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { type StoreEvent, prefixRange } from '../../src/storage/index.ts';
import { type ClientRequest, type ClientResponse, type TestClient, createTestClient } from '../../src/test-support/index.ts';
import { Log, RunHistory } from './history.ts';

/** Where the objects are, for clients and in etcd. */
export const path = '/api/v1/namespaces/default/configmaps';
const prefix = '/registry/configmaps/default/';
/** Of the objects that the load writes; others in the namespace are not its own. */
const ownNames = 'w';
const token = 'admin-token';
const pauseMs = 15;

const keyOf = (name: string): string => `${prefix}${name}`;
const isRetriable = (status: number): boolean => status === 429 || status === 503 || status === 504;

/** The one datum of a ConfigMap, which differs in every version of the object. */
const markOf = (object: { readonly data?: { readonly mark?: string } }): string => object.data?.mark ?? '';

/** Work at one URL that continues until it is stopped. */
export class Load {
  readonly history = new RunHistory();
  readonly failures = new Map<string, number>();
  /** Names of objects that are gone for good, by an acknowledged delete. */
  readonly deleted = new Set<string>();
  readonly log = new Log(prefixRange(`${prefix}${ownNames}`), 0);
  readonly #url: string;
  readonly #loops: Promise<void>[] = [];
  /** What the watch has last seen of each key. */
  readonly #seen = new Map<string, StoreEvent['kv']>();
  #stopped = false;
  #endWatch = (): void => undefined;
  watches = 0;

  constructor(url: string) {
    this.#url = url;
    this.history.logs.push(this.log);
  }

  start(writers: number, readers: number): void {
    for (let writer = 0; writer < writers; writer += 1) this.#loops.push(this.#writeAll(writer));
    for (let reader = 0; reader < readers; reader += 1) this.#loops.push(this.#readAll());
  }

  /** Resolves when all work has come to its end. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
  }

  /** Watches from the state of a list on, again and again, until the end function is called. */
  watch(from: string): () => Promise<void> {
    let isOver = false;
    const run = async (): Promise<void> => {
      for (let version = from; !isOver; version = String(this.log.received.at(-1)?.kv.modRevision ?? version)) {
        await this.#watchOnce(version);
        this.watches += 1;
        await sleep(pauseMs);
      }
    };
    const running = run();
    return () => {
      isOver = true;
      this.#endWatch();
      return running;
    };
  }

  #note(what: string): void {
    this.failures.set(what, (this.failures.get(what) ?? 0) + 1);
  }

  /** Each object is created and changed, every third one deleted. */
  async #writeAll(writer: number): Promise<void> {
    const client = createTestClient(this.#url, token);
    for (let index = 0; !this.#stopped; index += 1) {
      const name = `${ownNames}${writer}-${index}`;
      const object = (round: number, version: object) =>
        ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...version }, data: { mark: `${name}#${round}` } });
      const read = () => this.#insist({ method: 'GET', path: `${path}/${name}` }, client);
      const create = { method: 'POST', path, body: object(1, {}) };
      const { metadata: { resourceVersion } } = await this.#write(create, client, { isDone: 409 }) ?? (await read()).body;
      const update = { method: 'PUT', path: `${path}/${name}`, body: object(2, { resourceVersion }) };
      await this.#write(update, client, { isDone: 409 });
      if (index % 3 === 0) {
        await this.#write({ method: 'DELETE', path: `${path}/${name}` }, client, { isDone: 404 });
        this.deleted.add(keyOf(name));
      }
    }
    client.close();
  }

  /** One write until it has happened; undefined when a repeated request found it done, so that its revision is unknown. */
  async #write(call: ClientRequest & { body?: any }, client: TestClient, { isDone }: { isDone: number }): Promise<any> {
    const key = keyOf(call.body?.metadata.name ?? call.path.slice(path.length + 1));
    const after = this.history.acknowledged;
    const value = call.body === undefined ? undefined : markOf(call.body);
    const { status, body, repeated } = await this.#insist(call, client);
    const isAcknowledged = status === 200 || status === 201;
    assert.ok(isAcknowledged || (repeated && status === isDone), `${call.method} ${key}: ${status} ${JSON.stringify(body)}`);
    // A delete is answered without the version at which it happened.
    const revision = isAcknowledged && value !== undefined ? Number(body.metadata.resourceVersion) : undefined;
    this.history.writes.push({ key, value, after, ...(revision !== undefined && { revision }) });
    if (revision !== undefined) this.history.acknowledge(revision);
    return isAcknowledged ? body : undefined;
  }

  /** Repeats a request until a server has decided it. */
  async #insist(call: ClientRequest, client: TestClient): Promise<ClientResponse & { repeated: boolean }> {
    for (let tries = 0; ; tries += 1) {
      const answer = await client.request(call).catch((error: NodeJS.ErrnoException) => error);
      if (!(answer instanceof Error) && !isRetriable(answer.status)) return { ...answer, repeated: tries > 0 };
      this.#note(answer instanceof Error ? answer.code ?? answer.message : String(answer.status));
      await sleep(pauseMs);
    }
  }

  /** Consistent lists, each over a connection of its own, so that they come to every server. */
  async #readAll(): Promise<void> {
    while (!this.#stopped) {
      const client = createTestClient(this.#url, token);
      const after = this.history.acknowledged;
      const { status, body } = await this.#insist({ method: 'GET', path }, client);
      assert.equal(status, 200);
      const own: any[] = body.items.filter((item: any) => item.metadata.name.startsWith(ownNames));
      const state = new Map(own.map(({ metadata }) => [keyOf(metadata.name), Number(metadata.resourceVersion)]));
      this.history.reads.push({ after, revision: Number(body.metadata.resourceVersion), state, by: 'a list' });
      client.close();
      await sleep(pauseMs);
    }
  }

  #watchOnce(version: string): Promise<void> {
    return new Promise((resolve) => {
      let rest = '';
      const url = `${this.#url}${path}?watch=1&resourceVersion=${version}`;
      const request = requestHttps(url, { agent: false, rejectUnauthorized: false, headers: { authorization: `Bearer ${token}` } }, (response) => {
        const { statusCode = 0 } = response;
        if (statusCode !== 200) this.#note(isRetriable(statusCode) ? String(statusCode) : `watch: ${statusCode}`);
        response.setEncoding('utf8');
        response.on('error', () => undefined);
        response.on('data', (part: string) => {
          const lines = (rest + part).split('\n');
          rest = lines.pop() ?? '';
          if (statusCode === 200) for (const line of lines) this.#take(JSON.parse(line));
        });
        response.on('close', resolve);
      });
      this.#endWatch = () => request.destroy();
      request.on('error', () => resolve());
      request.end();
    });
  }

  #take({ type, object }: { type: string; object: any }): void {
    const { name, resourceVersion } = object.metadata;
    if (type === 'ERROR' || !name.startsWith(ownNames)) return void (type === 'ERROR' && this.#note(`watch: ${JSON.stringify(object)}`));
    const event: StoreEvent['type'] = type === 'DELETED' ? 'delete' : 'put';
    const kv = { key: keyOf(name), value: Buffer.from(event === 'put' ? markOf(object) : ''), modRevision: Number(resourceVersion), createRevision: 0 };
    const previous = this.#seen.get(kv.key);
    this.#seen.set(kv.key, kv);
    assert.equal(type === 'ADDED', previous === undefined, `${type} ${name}`);
    this.log.events([{ type: event, kv, ...(previous !== undefined && { previous }) }]);
  }
}

/** Changes of the load's objects out of etcd's own log, with marks for values. */
export function readMarks(events: readonly StoreEvent[]): StoreEvent[] {
  const own = events.filter(({ kv }) => kv.key.startsWith(`${prefix}${ownNames}`));
  return own.map(({ type, kv, previous }) => {
    const value = type === 'put' ? markOf(JSON.parse(Buffer.from(kv.value).toString())) : '';
    return { type, kv: { ...kv, value: Buffer.from(value) }, ...(previous !== undefined && { previous }) };
  });
}
