// Lines about what is switched on or configured by files: gates of features, plugins of admission, webhooks behind Services, tracing, the log.
import type { Json, Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { configMap, inNamespace, pod, post, whoIs } from './files.ts';

const registration = '/apis/admissionregistration.k8s.io/v1';
/** The request is made for what it leads to: the answer is not compared. */
const unseen = { field: 'none', equals: undefined } as const;
const maps = `${inNamespace}/configmaps`;

const admission = JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins: [
  { name: 'EventRateLimit', path: 'event-limits.json' },
  { name: 'PodNodeSelector', configuration: { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'env=test' } } },
  { name: 'ValidatingAdmissionPolicy', configuration: { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'ValidatingAdmissionPolicyConfiguration',
    staticManifestsDir: '{dir}/static' } },
] });
const eventLimits = JSON.stringify({ apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1', kind: 'Configuration',
  limits: [{ type: 'Namespace', qps: 1, burst: 2, cacheSize: 50 }] });
const policies = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name: 'marks.static.k8s.io' }, spec: {
    matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['*'], resources: ['configmaps'] }] },
    validations: [{ expression: '!("marked" in object.metadata.?labels.orValue({}))', message: 'no marks' }] } },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: 'marks-here.static.k8s.io' },
    spec: { policyName: 'marks.static.k8s.io', validationActions: ['Deny'] } },
] });
const audit = JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules: [
  { level: 'Request', resources: [{ group: '', resources: ['configmaps'] }] }, { level: 'Metadata' }] });
const tracing = JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'TracingConfiguration', endpoint: '127.0.0.1:1',
  samplingRatePerMillion: 1_000_000 });

/** A webhook that sees the ConfigMaps of the namespace whose names begin with "seen". */
const hook = (hookPath: string, clientConfig: Json, rest: Json = {}): Json => ({ name: `${hookPath}.example.com`, clientConfig, sideEffects: 'None',
  admissionReviewVersions: ['v1'], namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '{ns}' } }, timeoutSeconds: 10,
  matchConditions: [{ name: 'seen', expression: 'object.metadata.name.startsWith("seen")' }],
  rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }], ...rest });
const byUrl = (hookPath: string): Json => ({ url: `{hooks}/${hookPath}`, caBundle: '{caBundle}' });
const byService = (name: string, port: unknown): Json => ({ service: { namespace: 'default', name, port, path: '/first' }, caBundle: '{caBundle}' });
const configure = (sort: 'mutating' | 'validating', ...webhooks: readonly Json[]): Request => ({ until: unseen,
  ...post(`${registration}/${sort}webhookconfigurations`, { metadata: { name: `{id}-${sort}` }, webhooks }) });
const remove = (sort: 'mutating' | 'validating'): Request => ({ method: 'DELETE', path: `${registration}/${sort}webhookconfigurations/{id}-${sort}`,
  until: unseen });
/** Waits until the server has learnt of the webhook. */
const isAsked = (annotation: string): Request => ({ ...post(`${maps}?dryRun=All`, { metadata: { name: 'seen-early' } }),
  until: { field: `metadata.annotations.${annotation}`, equals: 'yes' } });
const patchOf = (operations: readonly Json[]): Json => ({ patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') });
const review = ({ apiVersion, kind, request }: Json, rest: Json = {}): Json => ({ apiVersion, kind, response: { uid: request?.uid, allowed: true, ...rest } });
const annotate = (name: string) => (sent: Json): Json => review(sent, patchOf([...(sent['request']?.object.metadata.annotations === undefined
  ? [{ op: 'add', path: '/metadata/annotations', value: {} }] : []), { op: 'add', path: `/metadata/annotations/${name}`, value: 'yes' }]));
const service = (name: string, spec: Json): Request => ({ ...post('/api/v1/namespaces/default/services', { metadata: { name }, spec }), until: unseen });
const removeService = (name: string): Request => ({ method: 'DELETE', path: `/api/v1/namespaces/default/services/${name}`, until: unseen });

/** A token as it is in the Secret of a service account. */
const legacyToken = (rest: Json): Request => ({ save: { jwt: 'token' }, path: `token:${JSON.stringify({ iss: 'kubernetes/serviceaccount',
  sub: 'system:serviceaccount:{ns}:a', 'kubernetes.io/serviceaccount/namespace': '{ns}', 'kubernetes.io/serviceaccount/secret.name': 's',
  'kubernetes.io/serviceaccount/service-account.name': 'a', 'kubernetes.io/serviceaccount/service-account.uid': '{uid}', ...rest })}` });
const keepToken: Request = { method: 'PATCH', path: `${inNamespace}/secrets/s`, type: 'application/merge-patch+json',
  body: { stringData: { token: '{jwt}' } }, until: unseen };

const things = '/apis/{id}.example.com/v1/namespaces/{ns}/things';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** A million steps. */
const dear = `[${Array.from({ length: 100 }, (_, index) => index).join()}].map(a, a).all(a, [${Array.from({ length: 100 }, () => 1).join()}].all(b, `
  + `[${Array.from({ length: 100 }, () => 1).join()}].all(c, a + b + c >= 0)))`;
/** A policy for ConfigMaps of the namespace, and what it answers to one. */
const guard = (name: string, spec: Json, map: Json = {}): readonly Request[] => [
  { ...post(`${registration}/validatingadmissionpolicies`, { metadata: { name: `${name}-{id}` }, spec: { failurePolicy: 'Fail', matchConstraints: {
    resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }] }, ...spec } }), until: unseen },
  { ...post(`${registration}/validatingadmissionpolicybindings`, { metadata: { name: `${name}-{id}` }, spec: { policyName: `${name}-{id}`,
    validationActions: ['Deny'], matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '{ns}' } } } } }), until: unseen },
  { ...post(`${maps}?dryRun=All`, { metadata: { name: 'a' }, ...map }), until: { field: 'kind', equals: 'Status' } },
  post(`${maps}?dryRun=All`, { metadata: { name: 'a' }, ...map }),
];
const unguard = (name: string): readonly Request[] => ['validatingadmissionpolicybindings', 'validatingadmissionpolicies']
  .map((plural): Request => ({ method: 'DELETE', path: `${registration}/${plural}/${name}-{id}`, until: unseen }))
  .concat([{ ...post(`${maps}?dryRun=All`, { metadata: { name: 'a' } }), until: { field: 'kind', equals: 'ConfigMap' } }]);

const bundles = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles';
const bundle = (name: string, spec: Json, as?: 'alice'): Request => ({ ...post(bundles, { metadata: { name }, spec }), ...(as !== undefined && { as }) });

export const extending: Setup = {
  name: 'extending',
  flags: ['--feature-gates=ClusterTrustBundle=true,PodCertificateRequest=true,StorageVersionMigrator=true,ManifestBasedAdmissionControlConfig=true',
    '--runtime-config=certificates.k8s.io/v1beta1=true,storagemigration.k8s.io/v1beta1=true', '--enable-admission-plugins=EventRateLimit,PodNodeSelector',
    '--admission-control-config-file={dir}/admission.json', '--audit-policy-file={dir}/audit.json', '--audit-log-path={dir}/audit.log',
    '--tracing-config-file={dir}/tracing.json', '--logging-format=json', '--v=3', '--service-account-key-file={dir}/issuer.pub'],
  files: { 'admission.json': admission, 'event-limits.json': eventLimits, 'static/policies.json': policies, 'audit.json': audit,
    'tracing.json': tracing },
  hooks: {
    first: annotate('first'), second: annotate('second'), checks: (sent) => review(sent, { auditAnnotations: { verdict: 'fine' }, warnings: ['checked'] }),
    'apis/audit.example.com/v1': () => ({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'audit.example.com/v1', resources: [
      { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get', 'list'] }] }),
    'apis/audit.example.com/v1/namespaces/default/things': () => ({ kind: 'ThingList', apiVersion: 'audit.example.com/v1', metadata: {}, items: [] }),
  },
  rows: [
    { line: 'P-16 S-16', what: 'plugins that a file configures', requests: [pod('p'),
      { ...post(`crowd:20${inNamespace}/events`, { metadata: { generateName: 'e-' }, involvedObject: { kind: 'Pod', namespace: '{ns}', name: 'p' },
        reason: 'R', message: 'm' }) }] },
    { line: 'P-42', what: 'policies in files', requests: [configMap('marked', { metadata: { name: 'marked', labels: { marked: 'yes' } } }), configMap('plain'),
      { path: `${registration}/validatingadmissionpolicies/marks.static.k8s.io` },
      post(`${registration}/validatingadmissionpolicies`, { metadata: { name: '{id}.static.k8s.io' }, spec: { matchConstraints: { resourceRules: [
        { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }] }, validations: [{ expression: 'true' }] } })] },
    { line: 'P-30 T-07', what: 'what audit events say of webhooks, and what webhooks are told of the request', requests: [
      configure('mutating', hook('first', byUrl('first')), hook('second', byUrl('second'), { reinvocationPolicy: 'IfNeeded' })),
      configure('validating', hook('checks', byUrl('checks'))), isAsked('second'),
      { ...configMap('seen-one'), headers: { 'audit-id': 'audit-{id}' } }, remove('mutating'), remove('validating'),
      { path: 'headers:audit-id,content-type,accept?first?seen-one' },
      { path: 'lines:audit.log?audit-{id}', pauseMs: 500 }] },
    { line: 'U-13', what: 'the trace of a request goes on in webhooks', requests: [configure('mutating', hook('first', byUrl('first'))), isAsked('first'),
      { ...configMap('seen-trace'), headers: { traceparent: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01' } }, remove('mutating'),
      { path: 'traces:first?seen-trace' }] },
    { line: 'U-08', what: 'verbs of metrics', requests: [{ method: 'PATCH', path: `${inNamespace}/podtemplates/{id}?fieldManager=m`,
      type: 'application/apply-patch+yaml', body: { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: '{id}' },
        template: { spec: { containers: [{ name: 'c', image: 'i' }] } } } },
      { path: `${inNamespace}/pods/none/log` }, { path: 'values:apiserver_request_total?resource="podtemplates"' },
      { path: 'values:apiserver_request_total?subresource="log"' }] },
    { line: 'P-32', what: 'metrics of webhooks', requests: [configure('mutating', hook('first', byService('none', 443))),
      { ...configMap('seen-closed'), until: { field: 'code', equals: 500 } }, { method: 'PATCH', until: unseen,
        path: `${registration}/mutatingwebhookconfigurations/{id}-mutating`, type: 'application/merge-patch+json',
        body: { webhooks: [hook('first', byService('none', 443), { failurePolicy: 'Ignore' })] } },
      { ...configMap('seen-open'), until: { field: 'kind', equals: 'ConfigMap' } }, remove('mutating'),
      { path: '/metrics', metrics: ['apiserver_admission_webhook_admission_duration_seconds',
      'apiserver_admission_webhook_request_total', 'apiserver_admission_webhook_fail_open_count', 'apiserver_admission_webhook_rejection_count',
      'apiserver_admission_step_admission_duration_seconds', 'apiserver_admission_controller_admission_duration_seconds'] }] },
    { line: 'T-10', what: 'metrics of the audit', requests: [{ path: '/metrics', metrics: ['apiserver_audit_event_total', 'apiserver_audit_level_total',
      'apiserver_audit_requests_rejected_total'] }, { path: 'values:apiserver_audit_error_total' }] },
    { line: 'P-29', what: 'webhooks behind Services', requests: [
      service('hooks', { type: 'ExternalName', externalName: 'localhost', ports: [{ port: 443 }] }),
      service('headless', { clusterIP: 'None', ports: [{ port: 443 }], selector: { a: 'b' } }), service('other', { ports: [{ port: 444 }] }),
      configure('mutating', hook('first', byService('hooks', '{hooksPort}'))), isAsked('first'), configMap('seen-there'), remove('mutating'),
      ...['headless', 'other', 'none'].flatMap((name): readonly Request[] => [configure('mutating', hook('first', byService(name, 443))),
        { ...configMap('seen-not'), until: { field: 'code', equals: 500 } }, configMap('seen-not'), remove('mutating'),
        { method: 'DELETE', path: `${maps}/seen-not`, until: unseen }]),
      ...['hooks', 'headless', 'other'].map(removeService)] },
    { line: 'R-08', what: 'an aggregated API behind a Service without an address of its own', requests: [
      service('hooks', { type: 'ExternalName', externalName: 'localhost', ports: [{ port: 443 }] }),
      { ...post('/apis/apiregistration.k8s.io/v1/apiservices', { metadata: { name: 'v1.audit.example.com' }, spec: { group: 'audit.example.com', version: 'v1',
        groupPriorityMinimum: 100, versionPriority: 100, caBundle: '{caBundle}', service: { namespace: 'default', name: 'hooks', port: '{hooksPort}' } } }),
        until: unseen },
      { path: '/apis/apiregistration.k8s.io/v1/apiservices/v1.audit.example.com', until: { field: 'status.conditions.0.status', equals: 'True' } },
      { path: '/apis/audit.example.com/v1/namespaces/default/things', until: { field: 'kind', equals: 'ThingList' } },
      { path: '/apis/audit.example.com/v1/namespaces/default/things' },
      { path: 'fields:status/apis/apiregistration.k8s.io/v1/apiservices/v1.audit.example.com' },
      { method: 'DELETE', path: '/apis/apiregistration.k8s.io/v1/apiservices/v1.audit.example.com', until: unseen }, removeService('hooks')] },
    { line: 'M-42', what: 'trust bundles, and requests for certificates of pods', requests: [
      bundle('{id}', { trustBundle: 'none' }), bundle('example.com:one:{id}', { signerName: 'example.com/one', trustBundle: 'none' }),
      bundle('wrong', { signerName: 'example.com/one', trustBundle: 'none' }), bundle('example.com:one:{id}', { trustBundle: 'none' }),
      bundle('example.com:one:{id}', { signerName: 'example.com/one', trustBundle: 'none' }, 'alice'), { path: `${bundles}/none` },
      post('/apis/certificates.k8s.io/v1beta1/namespaces/{ns}/podcertificaterequests', { metadata: { name: 'r' }, spec: { signerName: 'example.com/one',
        podName: 'p', podUID: 'u', serviceAccountName: 's', serviceAccountUID: 'su', nodeName: 'n', nodeUID: 'nu', maxExpirationSeconds: 60,
        stubPKCS10Request: 'bm9uZQ==' } }), { path: '/apis/certificates.k8s.io/v1beta1/namespaces/{ns}/podcertificaterequests' },
      { path: '/apis/certificates.k8s.io/v1beta1' }] },
    { line: 'V-16', what: 'migrations to another stored version', requests: [{ path: '/apis/storagemigration.k8s.io/v1beta1' },
      post('/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations', { metadata: { name: '{id}' }, spec: { resource: { group: 'apps',
        resource: 'deployments' } } }),
      post('/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations', { metadata: { name: 'bad' }, spec: { resource: {} } }),
      { method: 'PATCH', path: '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations/{id}/status', type: 'application/merge-patch+json',
        body: { status: { conditions: [{ type: 'Running', status: 'True', reason: 'r', lastTransitionTime: '2001-02-03T04:05:06Z' }] } } },
      { method: 'PATCH', path: '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations/{id}', type: 'application/merge-patch+json',
        body: { spec: { resource: { group: 'batch', resource: 'jobs' } } } }] },
    { line: 'U-12', what: 'what the server is and how it was started', requests: ['statusz', 'flagz'].flatMap((page) => [
      { path: `/${page}`, as: 'alice' as const },
      { path: `/${page}`, headers: { accept: 'application/json' } }, ...['v1alpha1', 'v1beta1', 'v1'].map((version): Request => ({
        path: `fields:kind,apiVersion,metadata,binaryVersion,emulationVersion,flags.v,flags.logging-format,flags.min-request-timeout,flags.request-timeout/${page}`,
        headers: { accept: `application/json;g=config.k8s.io;v=${version};as=${page === 'statusz' ? 'Statusz' : 'Flagz'}` } }))]) },
    { line: 'U-15', what: 'the log line of a request', requests: [{ path: `${maps}/logged-{id}`, as: 'alice', headers: { 'audit-id': 'log-{id}' } },
      { path: 'log:ts!,msg,v,verb,URI,latency!,userAgent,audit-ID,srcIP!,apf_pl,apf_fs,resp?logged-{id}', pauseMs: 500 }] },
    { line: 'N-13', what: 'tokens in Secrets are tracked, and can be switched off', requests: [
      { ...post(`${inNamespace}/serviceaccounts`, { metadata: { name: 'a' } }), save: { uid: 'metadata.uid' } },
      post(`${inNamespace}/secrets`, { metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'a',
        'kubernetes.io/service-account.uid': '{uid}' } }, type: 'kubernetes.io/service-account-token' }),
      legacyToken({ header: { alg: 'RS256', kid: 'none' } }), keepToken, whoIs('{jwt}'), legacyToken({ header: { alg: 'RS256' } }), whoIs('{jwt}'), keepToken,
      { ...whoIs('{jwt}'), until: { field: 'kind', equals: 'SelfSubjectReview' } }, whoIs('{jwt}'),
      { path: `${inNamespace}/secrets?labelSelector=kubernetes.io%2Flegacy-token-last-used`, until: { field: 'items.0.metadata.name', equals: 's' } },
      { path: `fields:metadata.labels!/${inNamespace.slice(1)}/secrets/s` },
      { method: 'PATCH', path: `${inNamespace}/secrets/s`, type: 'application/merge-patch+json', body: { metadata: { labels: {
        'kubernetes.io/legacy-token-invalid-since': '2001-02-03' } } }, until: unseen }, { ...whoIs('{jwt}'), until: { field: 'code', equals: 401 } },
      whoIs('{jwt}'), { path: 'fields:data!,metadata.name/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking' }] },
    { line: 'P-38', what: 'expressions that cost too much, and messages that are too long', requests: [
      ...guard('costs', { variables: [{ name: 'l', expression: `[${Array.from({ length: 100 }, (_, index) => index).join()}]` }], validations: [
        { expression: 'variables.l.all(a, variables.l.all(b, variables.l.all(c, a + b + c >= 0)))' }] }), ...unguard('costs'),
      ...guard('says', { validations: [{ expression: 'false', messageExpression: 'string(object.data.k)' }] }, { data: { k: 'k'.repeat(6000) } }),
      ...unguard('says'),
      ...guard('asks', { matchConditions: [{ name: 'dear', expression: dear }], validations: [{ expression: 'true' }] }), ...unguard('asks')] },
    { line: 'Q-36', what: 'a definition that changes ends the watches of its objects', requests: [
      post(definitions, { metadata: { name: 'things.{id}.example.com' }, spec: { group: '{id}.example.com', scope: 'Namespaced', names: { plural: 'things',
        kind: 'Thing' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] } }),
      { path: things, until: { field: 'kind', equals: 'ThingList' } }, { path: `start:watch${things}?watch=1&timeoutSeconds=600` },
      { method: 'PATCH', path: `${definitions}/things.{id}.example.com`, type: 'application/json-patch+json', pauseMs: 500, body: [{ op: 'add',
        path: '/spec/versions/0/schema/openAPIV3Schema/properties', value: { spec: { type: 'string' } } }], until: unseen },
      { path: 'end:watch' }, { path: things }] },
    { line: 'U-17', what: 'the version and those that it emulates', requests: [
      { path: 'fields:major,minor,emulationMajor,emulationMinor,minCompatibilityMajor,minCompatibilityMinor/version' }, { path: 'run:--emulated-version=1.35' }] },
  ],
};
