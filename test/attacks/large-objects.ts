// Attacks by reads of objects of a megabyte: what is done for each object of a list, or for each change of a watch, is done for a megabyte.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, type AttackRequest, type Victim, describe, openSession, send } from './attack.ts';
import { numbered, sendAll } from './floods.ts';

const COUNT = 60;
const token = 'admin-token';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** A kind whose objects may be large, and a field by which they are selected. */
interface LargeKind {
  readonly name: string;
  readonly collection: string;
  readonly field: string;
  readonly accepts: readonly string[];
  make(index: number): object;
  prepare?(victim: Victim): Promise<void>;
}

const texts = Object.fromEntries(numbered(20_000, (index) => [`key-${index}`, `the value of the key ${index}, and more`]));
const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: {
  color: { type: 'string' }, texts: { type: 'object', additionalProperties: { type: 'string' } } } } } } };

const customObjects: LargeKind = {
  name: 'custom objects', collection: '/apis/attack.example.com/v1/namespaces/alice/larges', field: 'spec.color', accepts: [TABLE, METADATA],
  make: (index) => ({ apiVersion: 'attack.example.com/v1', kind: 'Large', metadata: { name: `large${index}`, labels: { index: `${index}` } },
    spec: { color: `c${index % 2}`, texts } }),
  async prepare(victim) {
    await send(victim, { method: 'POST', path: DEFINITIONS, token, body: {
      apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'larges.attack.example.com' }, spec: {
        group: 'attack.example.com', scope: 'Namespaced', names: { plural: 'larges', kind: 'Large' },
        versions: [{ name: 'v1', served: true, storage: true, schema, selectableFields: [{ jsonPath: '.spec.color' }] }] } } });
    for (let tries = 0; tries < 50 && (await send(victim, { path: this.collection, token })).status !== 200; tries++) await sleep(100);
  },
};

const env = numbered(10_000, (index) => ({ name: `SETTING_${index}`, value: `the value of the setting ${index}, and some more of it` }));

const pods: LargeKind = {
  name: 'Pods', collection: '/api/v1/namespaces/alice/pods', field: 'spec.nodeName', accepts: [TABLE, METADATA, PROTOBUF],
  make: (index) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `large${index}`, labels: { index: `${index}` } },
    spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i', env }] } }),
};

const isOk = (statuses: string): boolean => Object.keys(JSON.parse(statuses) as object).every((status) => ['200', '201', '429'].includes(status));

/** Runs an attack beside the objects, which are gone afterwards. */
function besideObjects(kind: LargeKind, what: string, attack: (victim: Victim) => Promise<string>): Attack {
  return {
    number: '70', name: `${what} ${COUNT} ${kind.name} of a megabyte`,
    async run(victim) {
      await kind.prepare?.(victim);
      const created = await sendAll(victim, numbered(COUNT, (index) => ({ method: 'POST', path: kind.collection, token, body: kind.make(index) })), 2);
      const statuses = await attack(victim);
      const deleted = await send(victim, { method: 'DELETE', path: `${kind.collection}?gracePeriodSeconds=0`, token });
      return { holds: isOk(created) && isOk(statuses) && deleted.status === 200, answer: `${created}, then ${statuses}, then ${describe(deleted)}` };
    },
  };
}

function readsOf({ collection, field, accepts }: LargeKind): AttackRequest[] {
  const list = (query: string, accept = 'application/json'): AttackRequest => ({ path: `${collection}?${query}`, token, headers: { accept } });
  return [
    list(`fieldSelector=${field}%3Dnone`), list(`fieldSelector=${field}!%3Dnone&limit=2`), list(`fieldSelector=${field}!%3Dnone`),
    list('labelSelector=index%3Dnone'), list('labelSelector=index!%3Dnone&limit=2'), list('labelSelector=index%20in%20(1,2)'), list(''), list('limit=7'),
    list(`watch=1&timeoutSeconds=1&fieldSelector=${field}%3Dnone`),
    list(`watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&fieldSelector=${field}!%3Dnone`),
    ...accepts.flatMap((accept) => [list('', accept), list('limit=7', accept)]),
  ];
}

/** Each kind is read in all forms, and changes beside watches by its field. */
export const largeObjectAttacks: readonly Attack[] = [customObjects, pods].flatMap((kind) => [
  besideObjects(kind, 'reads of', (victim) => sendAll(victim, readsOf(kind), 3)),
  besideObjects(kind, '40 watches by a field of', async (victim) => {
    const { session } = openSession(victim);
    for (let count = 0; count < 40; count++) {
      const stream = session.request({ ':path': `${kind.collection}?watch=1&fieldSelector=${kind.field}${count % 2 === 0 ? '' : '!'}%3Dnone${count}`,
        authorization: `Bearer ${token}` });
      stream.on('error', () => {}).resume();
    }
    await sleep(1000);
    const patch = (index: number): AttackRequest => ({ method: 'PATCH', path: `${kind.collection}/large${index}`, token,
      type: 'application/merge-patch+json', body: { metadata: { annotations: { changed: 'yes' } } } });
    const statuses = await sendAll(victim, numbered(20, patch), 5);
    await sleep(1000);
    session.destroy();
    return statuses;
  }),
]);
