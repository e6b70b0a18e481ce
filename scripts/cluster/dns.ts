// CoreDNS for `npm run cluster`: the objects with which names of Services are resolved in pods.

/** The address of the DNS Service, which kubelets write into the pods' resolv.conf. */
export const DNS_ADDRESS = '10.96.0.10';
/** The image for CoreDNS; it holds the program alone. */
export const DNS_IMAGE = 'localhost/coredns:1';

const NAME = { name: 'coredns', namespace: 'kube-system' };
const LABELS = { 'k8s-app': 'kube-dns' };
const ROLES = 'rbac.authorization.k8s.io';
const CONFIGURATION = `.:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
    }
    cache 5
    loop
    reload
}
`;

const probe = (path: string, port: number): object => ({ httpGet: { path, port } });
const pod = {
  serviceAccountName: 'coredns', dnsPolicy: 'Default', priorityClassName: 'system-cluster-critical',
  tolerations: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
  containers: [{
    name: 'coredns', image: DNS_IMAGE, imagePullPolicy: 'Never', args: ['-conf', '/etc/coredns/Corefile'],
    ports: [{ name: 'dns', containerPort: 53, protocol: 'UDP' }, { name: 'dns-tcp', containerPort: 53 }],
    livenessProbe: probe('/health', 8080), readinessProbe: { ...probe('/ready', 8181), periodSeconds: 1 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/coredns', readOnly: true }],
  }],
  volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
};

/** CoreDNS with what it may read, its Deployment and the Service `kube-dns`. */
export const dnsObjects: readonly object[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: NAME },
  { apiVersion: `${ROLES}/v1`, kind: 'ClusterRole', metadata: { name: 'system:coredns' }, rules: [
    { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ] },
  { apiVersion: `${ROLES}/v1`, kind: 'ClusterRoleBinding', metadata: { name: 'system:coredns' },
    roleRef: { apiGroup: ROLES, kind: 'ClusterRole', name: 'system:coredns' }, subjects: [{ kind: 'ServiceAccount', ...NAME }] },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: NAME, data: { Corefile: CONFIGURATION } },
  { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...NAME, labels: LABELS },
    spec: { replicas: 1, selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec: pod } } },
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'kube-dns', namespace: 'kube-system', labels: { ...LABELS, 'kubernetes.io/name': 'CoreDNS' } }, spec: {
    clusterIP: DNS_ADDRESS, selector: LABELS, ports: [
      { name: 'dns', port: 53, protocol: 'UDP' }, { name: 'dns-tcp', port: 53, protocol: 'TCP' },
    ],
  } },
];
