// What schemas cost: loading the data at start, and decoding a typical Deployment, a ConfigMap of 1.3 KB and a Pod as the server writes it.
import { readFileSync } from 'node:fs';
import { applyDefaults, decodeObject, loadSchemas } from '../src/apimachinery/index.ts';
import { schemaData } from '../src/resources/schema/index.ts';

/** One measurement: `nsPer` nanoseconds for each of `count` units. */
interface Measurement {
  readonly name: string;
  readonly nsPer: number;
  readonly count: number;
}

const probe = { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 5 };
const resources = { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } };
const env = [{ name: 'MODE', value: 'production' }, { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }];
const deployment = {
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'default', labels: { app: 'web', tier: 'front' } },
  spec: {
    replicas: 3, selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [{ name: 'c', image: 'nginx', ports: [{ name: 'http', containerPort: 80 }], env, resources, livenessProbe: probe, readinessProbe: probe }],
        volumes: [{ name: 'v', configMap: { name: 'c' } }, { name: 'e', emptyDir: {} }],
      },
    },
  },
};
const configMap = {
  apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' },
  data: Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`key-${i}`, 'v'.repeat(110)])),
};
const pod: unknown = JSON.parse(readFileSync(new URL('../../test/data/roundtrip/core.v1.Pod.json', import.meta.url), 'utf8'));

function measure(name: string, seconds: number, once: () => unknown): Measurement {
  const startMs = performance.now();
  let count = 0;
  for (; performance.now() - startMs < seconds * 1000; count++) once();
  return { name, nsPer: ((performance.now() - startMs) * 1e6) / count, count };
}

/** Runs every measurement for about `seconds` in all. */
export async function run({ seconds }: { readonly seconds: number }): Promise<Measurement[]> {
  const share = seconds / 5;
  const schemas = loadSchemas(schemaData);
  const deployments = schemas.forKind({ group: 'apps', version: 'v1', kind: 'Deployment' })!;
  const configMaps = schemas.forKind({ group: '', version: 'v1', kind: 'ConfigMap' })!;
  const pods = schemas.forKind({ group: '', version: 'v1', kind: 'Pod' })!;
  const decoded = decodeObject(deployments, deployment).object;
  return [
    measure('load the schemas', share, () => loadSchemas(schemaData)),
    measure('decode a deployment', share, () => decodeObject(deployments, deployment)),
    measure('decode a config map of 1.3 KB', share, () => decodeObject(configMaps, configMap)),
    measure('decode a pod with every field set', share, () => decodeObject(pods, pod)),
    measure('default a deployment', share, () => applyDefaults(deployments, decoded)),
  ];
}
