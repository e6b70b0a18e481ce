// The program that Pulumi runs in its test: resources of a stack, in the YAML language, at each stage of the stack's life.

/** How far the stack has come. */
export interface Stage {
  readonly isChanged?: boolean;
  /** Takes fields from others. */
  readonly isForced?: boolean;
  /** Leaves the number of replicas to others. */
  readonly isIgnoring?: boolean;
  /** Data that the stack adds to an object of another. */
  readonly patch?: Readonly<Record<string, string>>;
  /** Has imported an object of another. */
  readonly hasMet?: boolean;
  /** The older provider applies too. */
  readonly isApplied?: boolean;
  readonly selector?: string;
  readonly port?: number;
  readonly schedule?: unknown;
  /** Has objects that are not done until another has changed them. */
  readonly hasWaiting?: boolean;
  /** A value of the charts of Helm, where the stack has them. */
  readonly color?: string;
}

type Resources = Readonly<Record<string, { readonly type: string; readonly properties: object; readonly options?: object }>>;

const skip = { 'pulumi.com/skipAwait': 'true' };
const force = { 'pulumi.com/patchForce': 'true' };
const container = { name: 'web', image: 'nginx:1', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '500m' } } };

/** Resources that the provider applies as it is when nothing is configured. */
function shop({ isChanged = false, isForced = false, isIgnoring = false, selector = 'web', port = 80 }: Stage): Resources {
  const namespace = '${shop.metadata.name}';
  const labels = { app: selector };
  const options = { dependsOn: ['${shop}'] };
  const secret = { key: isChanged ? 'other' : 'value' };
  return {
    shop: { type: 'kubernetes:core/v1:Namespace', properties: { metadata: { name: 'shop', labels: { team: 'a' } } } },
    settings: { type: 'kubernetes:core/v1:ConfigMap', options, properties: {
      metadata: { name: 'settings', namespace, ...(isForced && { annotations: force }) }, data: { color: isChanged ? 'red' : 'blue' } } },
    key: { type: 'kubernetes:core/v1:Secret', options, properties: { metadata: { name: 'key', namespace }, stringData: secret } },
    auto: { type: 'kubernetes:core/v1:Secret', options, properties: { metadata: { namespace }, stringData: secret } },
    role: { type: 'kubernetes:rbac.authorization.k8s.io/v1:Role', options, properties: {
      metadata: { name: 'web', namespace }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: isChanged ? ['get', 'list'] : ['get'] }] } },
    web: { type: 'kubernetes:apps/v1:Deployment', options: { ...options, ...(isIgnoring && { ignoreChanges: ['spec.replicas'] }) }, properties: {
      metadata: { name: 'web', namespace, labels: { app: 'web', ...(isForced && { tier: 'front' }) },
        annotations: { ...skip, 'pulumi.com/patchFieldManager': 'deployer' } },
      spec: { replicas: isChanged ? 3 : 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: {
        containers: [isChanged ? { ...container, env: [{ name: 'A', value: 'b' }] } : container] } } } } },
    service: { type: 'kubernetes:core/v1:Service', options, properties: {
      metadata: { name: 'web', namespace, annotations: skip }, spec: { selector: labels, ports: [{ port, targetPort: 8080 }] } } },
  };
}

/** A definition and an object of its kind, which the provider puts in order. */
function definitions({ isChanged = false, schedule = '0 * * * *' }: Stage): Resources {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'crontabs.example.com' },
    spec: {
      group: 'example.com', scope: 'Namespaced', names: { plural: 'crontabs', singular: 'crontab', kind: 'CronTab' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: {
        schedule: { type: 'string' }, replicas: { type: 'integer' }, suspend: { type: 'boolean', default: false },
        env: { 'type': 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], 'items': { type: 'object', required: ['name'],
          properties: { name: { type: 'string' }, value: { type: 'string' } } } },
      } } } } }, ...(isChanged && { additionalPrinterColumns: [{ name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' }] }) }],
    },
  };
  const backup = { apiVersion: 'example.com/v1', kind: 'CronTab', metadata: { name: 'backup', namespace: 'default' },
    spec: { schedule, replicas: isChanged ? 2 : 1, env: [{ name: 'A', value: 'b' }] } };
  return { crontabs: { type: 'kubernetes:yaml/v2:ConfigGroup', properties: { objs: [definition, backup] } } };
}

/** Resources that another provider writes as patches, until it applies too. */
function old({ isChanged = false, isForced = false, isApplied = false }: Stage): Resources {
  const options = { provider: '${older}' };
  const labels = { app: 'old' };
  return {
    older: { type: 'pulumi:providers:kubernetes', properties: { enableServerSideApply: isApplied } },
    oldSettings: { type: 'kubernetes:core/v1:ConfigMap', options, properties: {
      metadata: { name: 'old', namespace: 'default' }, data: isChanged ? { color: 'red' } : { color: 'blue', size: '1' } } },
    oldWeb: { type: 'kubernetes:apps/v1:Deployment', options, properties: {
      metadata: { name: 'old', namespace: 'default', annotations: skip },
      spec: { replicas: isChanged ? 2 : 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: {
        containers: isChanged ? [container, { name: 'side', image: 'side:1' }] : [container] } } } } },
    // A provider cannot place objects of a kind that another one is about to define.
    ...((isChanged || isApplied) && { oldCrontabs: { type: 'kubernetes:yaml/v2:ConfigGroup', options: { providers: ['${older}'], dependsOn: ['${crontabs}'] },
      properties: { objs: [{ apiVersion: 'example.com/v1', kind: 'CronTab', metadata: { name: 'old', namespace: 'default' },
        spec: { replicas: isForced ? 3 : 2, ...(!isChanged && { schedule: '1 * * * *' }) } }] } } }),
  };
}

/** Resources that others have made or must change, and charts. */
function others({ patch, hasMet = false, hasWaiting = false, color }: Stage): Resources {
  return {
    ...(hasWaiting && {
      signal: { type: 'kubernetes:core/v1:ConfigMap', properties: {
        metadata: { name: 'signal', namespace: 'default', annotations: { 'pulumi.com/waitFor': 'jsonpath={.data.answer}=yes' } },
        data: { question: 'when' } } },
      pod: { type: 'kubernetes:core/v1:Pod', properties: {
        metadata: { name: 'pod', namespace: 'default', finalizers: ['example.com/hold'] }, spec: { containers: [container] } } },
    }),
    ...(color !== undefined && {
      // The provider renders the one itself, and has Helm install the other.
      chart: { type: 'kubernetes:helm.sh/v4:Chart', properties: { chart: './chart', name: 'chart', namespace: 'default', values: { color } } },
      release: { type: 'kubernetes:helm.sh/v3:Release', properties: { chart: './chart', name: 'release', namespace: 'default', values: { color } } },
    }),
    ...(patch && { found: { type: 'kubernetes:core/v1:ConfigMapPatch', properties: { metadata: { name: 'found', namespace: 'default' }, data: patch } } }),
    ...(hasMet && { met: { type: 'kubernetes:core/v1:ConfigMap', options: { import: 'default/met' }, properties: {
      metadata: { name: 'met', namespace: 'default' }, data: { a: 'b' } } } }),
  };
}

const template = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-chart
  namespace: {{ .Release.Namespace }}
data:
  isServed: {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" | quote }}
  version: {{ .Capabilities.KubeVersion.Version }}
  color: {{ .Values.color }}
`;
/** The files of a chart of Helm that shows what Helm knows of the server. */
export const chart: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: chart\nversion: 1.0.0\n', 'values.yaml': 'color: blue\n', 'templates/settings.yaml': template,
};

/** The resources of the stack and what it shows. */
export const program = (stage: Stage): { readonly resources: Resources; readonly outputs: Readonly<Record<string, string>> } => ({
  resources: { ...shop(stage), ...definitions(stage), ...old(stage), ...others(stage) },
  outputs: { color: '${settings.data.color}', replicas: '${web.spec.replicas}' },
});
