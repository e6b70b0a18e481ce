// The schema data against what the reference wrote: its round-trip samples and the texts of its decoding errors.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { DecodeError, type Schema, decodeObject, loadSchemas, toOpenAPIv2, toOpenAPIv3 } from '../../apimachinery/index.ts';
import { schemaData } from './index.ts';

const schemas = loadSchemas(schemaData);
const samples = new URL('../../../../test/data/roundtrip/', import.meta.url);

function schemaOf(apiVersion: string, kind: string): Schema {
  const slash = apiVersion.indexOf('/');
  const gvk = { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind };
  const schema = schemas.forKind(gvk);
  assert.ok(schema, `${apiVersion} ${kind}`);
  return schema;
}

/** Keys of objects the other way round, but inside of what is kept as it is. */
function reverseKeys(schema: Schema | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => reverseKeys(schema?.items, item));
  if (typeof value !== 'object' || value === null || schema === undefined || schema.type === 'any') return value;
  const entries = Object.entries(value).map(([key, item]) => [key, reverseKeys(schema.fields?.get(key)?.schema ?? schema.items, item)]);
  return Object.fromEntries(entries.reverse());
}

function decode(apiVersion: string, kind: string, rest: object): unknown {
  return decodeObject(schemaOf(apiVersion, kind), { apiVersion, kind, ...rest }).object;
}

function failureOf(apiVersion: string, kind: string, rest: object): string {
  try {
    decode(apiVersion, kind, rest);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

const deployment = (spec: object): string => failureOf('apps/v1', 'Deployment', { spec });
const container = (rest: object): string => deployment({ template: { spec: { containers: [{ name: 'c', ...rest }] } } });
const configMap = (rest: object): string => failureOf('v1', 'ConfigMap', rest);

test('decodeObject brings every sample of the reference back as it was, whatever the order of its keys', () => {
  let count = 0;
  for (const file of readdirSync(samples).filter((name) => name.endsWith('.json'))) {
    const text = readFileSync(new URL(file, samples), 'utf8');
    const sample = JSON.parse(text) as { apiVersion?: string; kind?: string };
    const [, version, kind] = /^.*\.(v\w+)\.(\w+)\.json$/.exec(file)!;
    const schema = sample.kind === undefined ? undefined : schemas.forKind({ group: sample.apiVersion!.split('/').at(-2) ?? '', version: version!, kind: kind! });
    if (schema === undefined) continue;
    for (const input of [sample, reverseKeys(schema, sample)]) {
      const { object, strictErrors } = decodeObject(schema, input);
      assert.equal(JSON.stringify(object), JSON.stringify(sample), file);
      assert.deepEqual(strictErrors, [], file);
    }
    count++;
  }
  assert.ok(count >= 75, `only ${count} samples have a schema`);
});

test('decodeObject reports wrong types in the words of the reference', () => {
  const mismatch = 'json: cannot unmarshal';
  assert.equal(configMap({ data: { k: 1 } }), `${mismatch} number into Go struct field ConfigMap.data of type string`);
  assert.equal(configMap({ data: [] }), `${mismatch} array into Go struct field ConfigMap.data of type map[string]string`);
  for (const [item, found] of [['a', 'string'], [256, 'number 256'], [-1, 'number -1'], [1.5, 'number 1.5'], [{}, 'object'], [[], 'array']]) {
    assert.equal(configMap({ binaryData: { k: [item] } }), `${mismatch} ${String(found)} into Go struct field ConfigMap.binaryData of type uint8`);
  }
  assert.equal(configMap({ immutable: 'yes' }), `${mismatch} string into Go struct field ConfigMap.immutable of type bool`);
  assert.equal(configMap({ metadata: [] }), `${mismatch} array into Go struct field ConfigMap.metadata of type v1.ObjectMeta`);
  assert.equal(configMap({ metadata: { labels: { l: true } } }), `${mismatch} bool into Go struct field ObjectMeta.metadata.labels of type string`);
  assert.equal(configMap({ metadata: { finalizers: 'x' } }), `${mismatch} string into Go struct field ObjectMeta.metadata.finalizers of type []string`);
  assert.equal(deployment({ replicas: 1.5 }), `${mismatch} number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32`);
  assert.equal(deployment({ replicas: 3e9 }), `${mismatch} number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32`);
  assert.equal(
    deployment({ strategy: { rollingUpdate: { maxSurge: true } } }),
    `${mismatch} bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32`,
  );
  assert.equal(container({ env: {} }), `${mismatch} object into Go struct field Container.spec.template.spec.containers.env of type []v1.EnvVar`);
  assert.equal(
    container({ ports: [{ containerPort: '80' }] }),
    `${mismatch} string into Go struct field ContainerPort.spec.template.spec.containers.ports.containerPort of type int32`,
  );
  assert.equal(
    deployment({ template: { spec: { containers: ['text'] } } }),
    `${mismatch} string into Go struct field PodSpec.spec.template.spec.containers of type v1.Container`,
  );
});

test('decodeObject reports what a type that decodes itself says, before any wrong type', () => {
  const quantities = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  assert.equal(container({ tty: 1, resources: { limits: { cpu: 'lots' } } }), quantities);
  assert.equal(configMap({ binaryData: { k: '!' } }), 'illegal base64 data at input byte 0');
  assert.equal(
    configMap({ metadata: { name: 1, creationTimestamp: 'now' } }),
    'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
  );
});

test('decodeObject takes nulls for absent, and for the zero value inside of lists and maps', () => {
  assert.deepEqual(decode('v1', 'ConfigMap', { data: null, binaryData: { b: null }, metadata: { annotations: { a: null }, finalizers: null } }), {
    kind: 'ConfigMap', apiVersion: 'v1', metadata: { annotations: { a: '' } }, binaryData: { b: '' },
  });
});

test('decodeObject writes what Go writes for structs, times, lists and pointers without omitempty', () => {
  assert.deepEqual(decode('apps/v1', 'Deployment', {}), {
    kind: 'Deployment', apiVersion: 'apps/v1', metadata: {},
    spec: { selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} }, status: {},
  });
  assert.deepEqual(decode('v1', 'Event', { involvedObject: {} }), {
    kind: 'Event', apiVersion: 'v1', metadata: {}, involvedObject: {}, source: {}, firstTimestamp: null, lastTimestamp: null,
    eventTime: null, reportingComponent: '', reportingInstance: '',
  });
  assert.deepEqual(decode('rbac.authorization.k8s.io/v1', 'Role', { rules: [] }), {
    kind: 'Role', apiVersion: 'rbac.authorization.k8s.io/v1', metadata: {}, rules: null,
  });
});

test('decodeObject keeps an explicit zero of a pointer and drops that of a plain field', () => {
  const { spec } = decode('apps/v1', 'Deployment', { spec: { replicas: 0, minReadySeconds: 0, paused: false } }) as { spec: object };
  assert.ok('replicas' in spec);
  assert.ok(!('minReadySeconds' in spec) && !('paused' in spec));
});

test('decodeObject reports unknown and duplicate fields in the order of the input, at most 100', () => {
  const pod = { metadata: { nick: 1 }, spec: { containers: [{ name: 'c', tty: true, shape: 'x' }], colour: 1 } };
  const { strictErrors } = decodeObject(schemaOf('v1', 'Pod'), { ...pod, 'a"b': 1 }, { duplicates: ['spec.containers[0].tty', 'spec.colour'] });
  assert.deepEqual(strictErrors, [
    'unknown field "metadata.nick"', 'duplicate field "spec.containers[0].tty"', 'unknown field "spec.containers[0].shape"',
    'unknown field "spec.colour"', 'unknown field "a\\"b"',
  ]);
  const many = Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`u${i}`, i]));
  assert.equal(decodeObject(schemaOf('v1', 'Pod'), many).strictErrors.length, 100);
});

test('decodeObject treats __proto__ as any other key', () => {
  const json = JSON.parse('{"data":{"__proto__":"x","a":"y"},"__proto__":{"kind":"Evil"}}') as object;
  const { object, strictErrors } = decodeObject(schemaOf('v1', 'ConfigMap'), json);
  assert.equal(JSON.stringify(object), '{"metadata":{},"data":{"__proto__":"x","a":"y"}}');
  assert.deepEqual(strictErrors, ['unknown field "__proto__"']);
});

test('loadSchemas knows Go embedding: protobuf numbers of the messages around a field', () => {
  const volume = schemas.definition('io.k8s.api.core.v1.Volume')!.fields!;
  assert.deepEqual([volume.get('name')!.number, volume.get('name')!.inlined], [1, undefined]);
  assert.deepEqual([volume.get('configMap')!.number, volume.get('configMap')!.inlined], [19, [2]]);
  assert.deepEqual(schemas.definition('io.k8s.api.admissionregistration.v1.NamedRuleWithOperations')!.fields!.get('scope')!.inlined, [2, 2]);
});

test('toOpenAPIv3 and toOpenAPIv2 write references, defaults and extensions each in its own way', () => {
  const { strategy, template } = toOpenAPIv3(schemas.definition('io.k8s.api.apps.v1.DeploymentSpec')!)['properties'] as Record<string, object>;
  assert.deepEqual(strategy, {
    allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy' }], default: {}, 'x-kubernetes-patch-strategy': 'retainKeys',
  });
  assert.deepEqual(template, { allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.PodTemplateSpec' }], default: {} });
  const v2 = toOpenAPIv2(schemas.definition('io.k8s.api.apps.v1.DeploymentSpec')!)['properties'] as Record<string, object>;
  assert.deepEqual(v2['strategy'], { $ref: '#/definitions/io.k8s.api.apps.v1.DeploymentStrategy', 'x-kubernetes-patch-strategy': 'retainKeys' });
});

test('decodeObject reads the places of a JSON schema that take a schema or something else', () => {
  const decodeSchema = (schema: object): unknown => {
    const definition = decode('apiextensions.k8s.io/v1', 'CustomResourceDefinition', { spec: { versions: [{ schema: { openAPIV3Schema: schema } }] } });
    return (definition as { spec: { versions: { schema: { openAPIV3Schema: unknown } }[] } }).spec.versions[0]!.schema.openAPIV3Schema;
  };
  const schema = { type: 'object', default: { b: [null], a: 1 }, items: { type: 'string' }, additionalProperties: false, dependencies: { a: ['b'] } };
  // Values in schemas have sorted keys.
  assert.equal(JSON.stringify(decodeSchema({ ...schema, odd: 1 })), JSON.stringify({ ...schema, default: { a: 1, b: [null] } }));
  assert.deepEqual(decodeSchema({ items: { odd: 1, type: 'string' }, additionalProperties: { nullable: true } }), {
    items: { type: 'string' }, additionalProperties: { nullable: true },
  });
  assert.throws(() => decodeSchema({ additionalProperties: 'x' }), { message: 'boolean or JSON schema expected' });
});

/** The value with the node at the end of a random way replaced. */
function replaceAt(value: unknown, way: readonly number[], replacement: unknown): unknown {
  if (way.length === 0 || typeof value !== 'object' || value === null) return replacement;
  const keys = Object.keys(value);
  const key = keys[way[0]! % keys.length];
  if (key === undefined) return replacement;
  const changed = replaceAt((value as Record<string, unknown>)[key], way.slice(1), replacement);
  return Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed };
}

test('decodeObject either fails with DecodeError or makes an object that decodes to itself', () => {
  for (const name of ['apps.v1.StatefulSet', 'core.v1.PersistentVolume', 'events.k8s.io.v1.Event', 'resource.k8s.io.v1.ResourceSlice']) {
    const sample = JSON.parse(readFileSync(new URL(`${name}.json`, samples), 'utf8')) as { apiVersion: string; kind: string };
    const schema = schemaOf(sample.apiVersion, sample.kind);
    fc.assert(fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), fc.jsonValue(), (way, replacement) => {
      const input = replaceAt(sample, way, replacement);
      try {
        const { object } = decodeObject(schema, input);
        assert.equal(JSON.stringify(decodeObject(schema, object).object), JSON.stringify(object));
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
      }
    }), { numRuns: 60, examples: [[[0], [{ toString: false }]]] });
  }
});

test('decodeObject names the structs that Go embeds on the way to a field', () => {
  assert.throws(() => decode('v1', 'Pod', { spec: { containers: [{ livenessProbe: { exec: 5 } }] } }),
    /Go struct field Probe\.spec\.containers\.livenessProbe\.ProbeHandler\.exec of type v1\.ExecAction/);
  assert.throws(() => decode('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', { spec: { matchConstraints: { resourceRules: [{ apiGroups: 5 }] } } }),
    /NamedRuleWithOperations\.spec\.matchConstraints\.resourceRules\.RuleWithOperations\.Rule\.apiGroups of type \[\]string/);
});

test('toOpenAPIv3 gives elements the zero value of their type, but for those that write themselves', () => {
  const elementOf = (definition: string, field: string): unknown => {
    const properties = toOpenAPIv3(schemas.definition(definition)!)['properties'] as Record<string, { items?: unknown; additionalProperties?: unknown }>;
    return properties[field]?.items ?? properties[field]?.additionalProperties;
  };
  const [core, meta] = ['io.k8s.api.core.v1.', 'io.k8s.apimachinery.pkg.'];
  assert.deepEqual(elementOf(`${core}PodSpec`, 'containers'), { allOf: [{ $ref: `#/components/schemas/${core}Container` }], default: {} });
  assert.deepEqual(elementOf(`${core}ConfigMap`, 'data'), { type: 'string', default: '' });
  assert.deepEqual(elementOf(`${core}ConfigMap`, 'binaryData'), { type: 'string', format: 'byte' });
  assert.deepEqual(elementOf(`${core}PodSecurityContext`, 'supplementalGroups'), { type: 'integer', format: 'int64', default: 0 });
  assert.deepEqual(elementOf(`${core}ResourceRequirements`, 'limits'), { $ref: `#/components/schemas/${meta}api.resource.Quantity` });
  assert.deepEqual(elementOf('io.k8s.api.authentication.v1.UserInfo', 'extra'), { type: 'array', items: { type: 'string', default: '' } });
});

test('toOpenAPIv3 lists the values of fields and of elements', () => {
  const enumOf = (definition: string, field: string, element?: string): unknown => {
    const properties = toOpenAPIv3(schemas.definition(definition)!)['properties'] as Record<string, Record<string, unknown>>;
    const written = properties[field] as Record<string, unknown>;
    return ((element === undefined ? written : written[element]) as Record<string, unknown>)['enum'];
  };
  assert.deepEqual(enumOf('io.k8s.api.core.v1.PodSpec', 'restartPolicy'), ['Always', 'Never', 'OnFailure']);
  assert.deepEqual(enumOf('io.k8s.api.core.v1.ServiceSpec', 'ipFamilies', 'items'), ['', 'IPv4', 'IPv6']);
  assert.ok((enumOf('io.k8s.api.certificates.v1.CertificateSigningRequestSpec', 'usages', 'items') as string[]).includes('cert sign'));
  assert.equal(enumOf('io.k8s.api.core.v1.PodSpec', 'nodeName'), undefined);
  const registration = 'io.k8s.api.admissionregistration';
  assert.deepEqual(enumOf(`${registration}.v1alpha1.MutatingAdmissionPolicySpec`, 'failurePolicy'), ['Fail', 'Ignore']);
  assert.deepEqual(enumOf(`${registration}.v1beta1.NamedRuleWithOperations`, 'operations', 'items'), ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']);
  assert.equal(enumOf(`${registration}.v1beta1.MutatingAdmissionPolicySpec`, 'failurePolicy'), undefined);
  assert.deepEqual(enumOf('io.k8s.api.resource.v1beta2.DeviceToleration', 'operator'), ['Equal', 'Exists']);
});
