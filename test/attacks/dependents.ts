// What the server itself has to do when an owner of 100,000 objects is deleted, or their namespace: everything is worked off in small turns, beside an
// ordinary user. One after the other uses what the one before has left.
import http2 from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, CONFIG_MAPS, type Victim, configMap, describe, openSession, send } from './attack.ts';

const COUNT = 100_000;
const AT_ONCE = 40;
const TOKEN = 'admin-token';
const NAMESPACE = '/api/v1/namespaces/owned';
const OWNED = `${NAMESPACE}/configmaps`;
const WAIT_SECONDS = 600;
/** Objects that are deleted while a quota counts them. */
const QUOTA_DELETIONS = 5;
/** `kube-root-ca.crt`, which every namespace has. */
const OWN_OBJECTS = 1;

/** Creates objects on one HTTP/2 connection, which is the cheapest way for the attacker; returns how many were. */
async function createAll(victim: Victim, make: (index: number) => object): Promise<number> {
  const { session } = openSession(victim);
  let [next, created] = [0, 0];
  const headers = { ':method': 'POST', ':path': OWNED, authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const create = (index: number): Promise<number> => new Promise((resolve) => {
    let status = 0;
    const stream = session.request(headers);
    stream.on('response', (head: http2.IncomingHttpHeaders & { ':status'?: number }) => {
      status = head[':status'] ?? 0;
    });
    stream.on('error', () => {}).on('close', () => resolve(status)).resume().end(JSON.stringify(make(index)));
  });
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < COUNT && !session.destroyed) if (await create(next++) === 201) created++;
  }));
  session.destroy();
  return created;
}

/** How many ConfigMaps there are, of which one page is read. */
async function count(victim: Victim): Promise<number> {
  const { text } = await send(victim, { path: `${OWNED}?limit=1`, token: TOKEN });
  const { metadata, items } = JSON.parse(text) as { metadata: { remainingItemCount?: number }; items?: unknown[] };
  return (metadata.remainingItemCount ?? 0) + (items?.length ?? 0);
}

async function waitUntil(holds: () => Promise<boolean>): Promise<number | undefined> {
  const began = performance.now();
  while (performance.now() - began < WAIT_SECONDS * 1000) {
    if (await holds()) return Math.round((performance.now() - began) / 1000);
    await sleep(1000);
  }
  return undefined;
}

async function createOwner(victim: Victim): Promise<object[]> {
  await send(victim, { method: 'POST', path: '/api/v1/namespaces', token: TOKEN, body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'owned' } } });
  const owner = await send(victim, { method: 'POST', path: OWNED, token: TOKEN, body: configMap('owner', {}) });
  const { uid } = (JSON.parse(owner.text) as { metadata: { uid: string } }).metadata;
  return [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: true }];
}

const isOwnerGone = async (victim: Victim): Promise<boolean> => (await send(victim, { path: `${OWNED}/owner`, token: TOKEN })).status === 404;

/** Deletes an owner with a policy of propagation; `left` is how many of its dependents must be left in the end. */
function ownerAttack(propagationPolicy: string, left: number): Attack {
  return {
    number: '46', name: `${COUNT.toLocaleString('en')} dependents of one owner, ${propagationPolicy.toLowerCase()}`,
    async run(victim) {
      const ownerReferences = await createOwner(victim);
      const created = await createAll(victim, (index) => configMap(`dependent${index}`, {}, { ownerReferences }));
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy };
      const answer = await send(victim, { method: 'DELETE', path: `${OWNED}/owner`, token: TOKEN, body });
      const seconds = await waitUntil(async () => await isOwnerGone(victim) && (left > 0 || await count(victim) === OWN_OBJECTS));
      const there = await count(victim) - OWN_OBJECTS;
      return { holds: created === COUNT && seconds !== undefined && there === left,
        answer: `${created} created, ${describe(answer)}, the owner gone after ${seconds} s, ${there} left` };
    },
  };
}

/** A quota that counts all objects of the namespace: each look of its controller passes over all of them. */
const quotaAttack: Attack = {
  number: '46', name: `a quota that counts ${COUNT.toLocaleString('en')} objects, of which some are deleted`,
  async run(victim) {
    const quotas = `${NAMESPACE}/resourcequotas`;
    const there = await count(victim);
    const body = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'all' }, spec: { hard: { 'count/configmaps': `${10 * COUNT}` } } };
    await send(victim, { method: 'POST', path: quotas, token: TOKEN, body });
    const used = async (): Promise<number> => {
      const { text } = await send(victim, { path: `${quotas}/all`, token: TOKEN });
      return Number((JSON.parse(text) as { status?: { used?: Record<string, string> } }).status?.used?.['count/configmaps']);
    };
    const first = await waitUntil(async () => await used() === there);
    for (let index = 0; index < QUOTA_DELETIONS; index++) await send(victim, { method: 'DELETE', path: `${OWNED}/dependent${index}`, token: TOKEN });
    const second = await waitUntil(async () => await used() === there - QUOTA_DELETIONS);
    return { holds: first !== undefined && second !== undefined, answer: `counted after ${first} s, ${QUOTA_DELETIONS} less after ${second} s more` };
  },
};

const namespaceAttack: Attack = {
  number: '54', name: `a namespace of ${COUNT.toLocaleString('en')} objects that is deleted`,
  async run(victim) {
    const before = await count(victim);
    const answer = await send(victim, { method: 'DELETE', path: NAMESPACE, token: TOKEN });
    const seconds = await waitUntil(async () => (await send(victim, { path: NAMESPACE, token: TOKEN })).status === 404);
    return { holds: seconds !== undefined, answer: `${before} objects, ${describe(answer)}, gone after ${seconds} s` };
  },
};

/** An object whose thousands of owners, none of which exists, become others with each write. */
const manyOwners: Attack = {
  number: '46', name: '8,000 owners of one object that all change',
  async run(victim) {
    const owners = (round: number): object[] => Array.from({ length: 8000 }, (_, index) => (
      { apiVersion: 'x.y/v1', kind: 'K', name: 'n', uid: `${round}-${index}` }));
    const answers: string[] = [];
    for (let round = 0; round < 5; round++) {
      const body = configMap('many-owners', {}, { ownerReferences: owners(round) });
      const where = round === 0 ? { method: 'POST', path: CONFIG_MAPS } : { method: 'PUT', path: `${CONFIG_MAPS}/many-owners` };
      answers.push(String((await send(victim, { ...where, body })).status));
      await sleep(500);
    }
    const answer = await send(victim, { method: 'DELETE', path: `${CONFIG_MAPS}/many-owners` });
    return { holds: answer.status === 200, answer: `${answers.join(' ')}, then ${describe(answer)}` };
  },
};

/** Owners and what they own. */
export const dependentAttacks: readonly Attack[] = [
  manyOwners, ownerAttack('Foreground', 0), ownerAttack('Background', 0), ownerAttack('Orphan', COUNT), quotaAttack, namespaceAttack,
];
