// What bodies cost: a Pod through JSON, YAML and protobuf, both ways, beside the platform's own JSON.
import { readFileSync } from 'node:fs';
import { type JsonObject, type Schema, loadSchemas } from '../src/apimachinery/index.ts';
import { decodeMessage, encodeJson, encodeMessage, parseJson, parseYaml, stringifyYaml } from '../src/codec/index.ts';
import { schemaData } from '../src/resources/schema/index.ts';

/** One measurement: `nsPer` nanoseconds for each of `count` units. */
interface Measurement {
  readonly name: string;
  readonly nsPer: number;
  readonly count: number;
}

const probe = { httpGet: { path: '/healthz', port: 8080 }, initialDelaySeconds: 3, periodSeconds: 10, timeoutSeconds: 1 };
const fieldsV1 = { 'f:spec': { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:ports': { '.': {},
  'k:{"containerPort":80}': { '.': {} } } } } } };
const typical: JsonObject = {
  apiVersion: 'v1', kind: 'Pod',
  metadata: {
    name: 'web-0', namespace: 'default', uid: '0f0e0d0c-0b0a-4908-8706-050403020100', labels: { app: 'web', tier: 'front' },
    annotations: { note: 'x'.repeat(60) },
    creationTimestamp: '2026-01-01T00:00:00Z', managedFields: [{ manager: 'kubectl', operation: 'Update', apiVersion: 'v1', time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1', fieldsV1 }],
  },
  spec: {
    containers: [{
      name: 'c', image: 'registry.example.com/team/web:1.2.3', args: ['--a', '--b=3'], ports: [{ containerPort: 80, protocol: 'TCP' }], livenessProbe: probe,
      env: [{ name: 'A', value: '1' }, { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }], resources: { limits: { cpu: '1',
      memory: '1Gi' } },
    }],
    volumes: [{ name: 'v', emptyDir: {} }, { name: 'w', configMap: { name: 'a', defaultMode: 420 } }], restartPolicy: 'Always', dnsPolicy: 'ClusterFirst',
    securityContext: {}, terminationGracePeriodSeconds: 30, tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }],
  },
};
const full = JSON.parse(readFileSync(new URL('../../test/data/roundtrip/core.v1.Pod.json', import.meta.url), 'utf8')) as JsonObject;

function measure(name: string, seconds: number, once: () => unknown): Measurement {
  const startMs = performance.now();
  let count = 0;
  for (; performance.now() - startMs < seconds * 1000; count++) once();
  return { name, nsPer: ((performance.now() - startMs) * 1e6) / count, count };
}

async function measureYaml(name: string, seconds: number, bytes: Uint8Array): Promise<Measurement> {
  await parseYaml(bytes);
  const startMs = performance.now();
  let count = 0;
  for (; performance.now() - startMs < seconds * 1000; count++) await parseYaml(bytes);
  return { name, nsPer: ((performance.now() - startMs) * 1e6) / count, count };
}

async function measurePod(name: string, pod: JsonObject, seconds: number): Promise<Measurement[]> {
  const schema = loadSchemas(schemaData).forKind({ group: '', version: 'v1', kind: 'Pod' }) as Schema;
  const json = Buffer.from(JSON.stringify(pod));
  const message = encodeMessage(schema, pod);
  const share = seconds / 8;
  return [
    measure(`${name}: JSON.parse`, share, () => JSON.parse(json.toString('utf8'))),
    measure(`${name}: parseJson`, share, () => parseJson(json)),
    measure(`${name}: decodeMessage`, share, () => decodeMessage(schema, message)),
    measure(`${name}: JSON.stringify`, share, () => Buffer.from(JSON.stringify(pod))),
    measure(`${name}: encodeJson`, share, () => encodeJson(pod)),
    measure(`${name}: encodeMessage`, share, () => encodeMessage(schema, pod)),
    await measureYaml(`${name}: parseYaml`, share, Buffer.from(stringifyYaml(pod))),
    measure(`${name}: stringifyYaml`, share, () => stringifyYaml(pod)),
  ];
}

/** Runs every measurement for about `seconds` in all. */
export async function run({ seconds }: { readonly seconds: number }): Promise<Measurement[]> {
  return [...(await measurePod('typical pod', typical, seconds / 2)), ...(await measurePod('pod with every field set', full, seconds / 2))];
}
