// Asides about requests that wait: those that go on while others are sent, and those of which webhooks hold the answer.
import { type ClientResponse, eventually } from '../../src/test-support/index.ts';
import { type Aside, type Scene, fillRequest } from './scene.ts';

const ANSWER_MS = 20_000;

/** Requests that were started, by server and name. */
const started = new WeakMap<Scene, Map<string, Promise<ClientResponse>>>();

const split = (rest: string): readonly [name: string, path: string] => [rest.slice(0, rest.indexOf('/')), rest.slice(rest.indexOf('/'))];

export const waits: Readonly<Record<string, Aside>> = {
  /** Sends a request whose answer a later `end:NAME` gives: `start:NAME/path`. */
  start(scene, rest, request) {
    const [name, path] = split(rest);
    const requests = started.get(scene) ?? new Map<string, Promise<ClientResponse>>();
    const sent = scene.peer.client.request(fillRequest(scene.place, { ...request, path }));
    sent.catch(() => undefined);
    started.set(scene, requests.set(name, sent));
  },
  end: (scene, name) => started.get(scene)?.get(name),
  /** Waits until webhooks hold so many answers: `held:COUNT`. */
  async held({ place }, count) {
    await eventually(() => {
      if (place.gate.count() < Number(count)) throw new Error(`${place.gate.count()} answers are held`);
    }, ANSWER_MS);
  },
  release: ({ place }) => place.gate.release(),
  /** The different answers to a number of requests that are sent at once: `crowd:COUNT/path`. */
  async crowd(scene, rest, request) {
    const [count, path] = split(rest);
    const answers = await Promise.all(Array.from({ length: Number(count) }, () =>
      scene.peer.client.request(fillRequest(scene.place, { ...request, path }))));
    return [...new Set(answers.map(({ status, text, headers }) => JSON.stringify({ status, retryAfter: headers['retry-after'],
      message: status < 400 ? undefined : text })))].sort().map((each) => JSON.parse(each) as unknown);
  },
};
