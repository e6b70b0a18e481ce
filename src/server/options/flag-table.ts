// The flags, one row each: name as kube-apiserver spells it (or our own, where it has none), type, option, default, help.

import { identityFlags } from './identity-flags.ts';

/** One flag. */
export interface FlagRow {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'switch' | 'duration' | 'list';
  /** Field of ServerOptions, or `verbosity`. */
  readonly option: string;
  readonly help: string;
  readonly default?: string;
  /** Why giving this flag is an error. */
  readonly refuse?: string;
}

/** Every flag but those of identities, in the order of the help. */
export const flagTable: readonly FlagRow[] = [
  { name: 'secure-port', type: 'integer', option: 'securePort', default: '6443', help: 'Port to serve HTTPS on; 0 picks a free one.' },
  { name: 'bind-address', type: 'text', option: 'bindAddress', default: '127.0.0.1', help: 'Address to listen on.' },
  { name: 'advertise-address', type: 'text', option: 'advertiseAddress', help: 'Address that the kubernetes Service leads to; by default the bind address.' },
  { name: 'data-dir', type: 'text', option: 'dataDir', default: './.pintle', help: 'Directory of everything durable.' },
  { name: 'cert-dir', type: 'text', option: 'certDir', help: 'Directory of the generated certificates and keys; by default pki in the data directory.' },
  { name: 'tls-cert-file', type: 'text', option: 'tlsCertFile', help: 'Serving certificate (PEM); by default one is generated.' },
  { name: 'tls-private-key-file', type: 'text', option: 'tlsPrivateKeyFile', help: 'Private key of the serving certificate.' },
  { name: 'client-ca-file', type: 'text', option: 'clientCaFile', help: 'Authorities whose client certificates are accepted besides the generated one.' },
  { name: 'token-auth-file', type: 'text', option: 'tokenAuthFile', help: 'CSV file of static tokens: token,user,uid,"group1,group2".' },
  ...identityFlags,
  { name: 'anonymous-auth', type: 'switch', option: 'anonymousAuth', default: 'true', help: 'Let callers without credentials in as system:anonymous.' },
  { name: 'authorization-mode', type: 'list', option: 'authorizationMode', default: 'RBAC',
    help: 'Modes, asked in order: RBAC, Node, Webhook, AlwaysAllow, AlwaysDeny.' },
  { name: 'enable-admission-plugins', type: 'list', option: 'enableAdmissionPlugins',
    help: 'Plugins besides those that are on by default: NodeRestriction. Names of plugins that are not here are logged.' },
  { name: 'disable-admission-plugins', type: 'list', option: 'disableAdmissionPlugins', help: 'Plugins that are on by default and shall not be.' },
  { name: 'service-cluster-ip-range', type: 'text', option: 'serviceClusterIpRange', default: '10.0.0.0/24', help: 'Range of Service addresses.' },
  { name: 'request-timeout', type: 'duration', option: 'requestTimeoutMs', default: '60s', help: 'Longest that a request may take; watches are exempt.' },
  {
    name: 'min-request-timeout', type: 'integer', option: 'minRequestTimeoutSeconds', default: '1800',
    help: 'Shortest life in seconds of a watch that names no timeout.',
  },
  {
    name: 'max-requests-inflight', type: 'integer', option: 'maxRequestsInflight', default: '400',
    help: 'Reads in progress above which callers get 429; 0: no limit.',
  },
  {
    name: 'max-mutating-requests-inflight', type: 'integer', option: 'maxMutatingRequestsInflight', default: '200',
    help: 'Writes in progress above which callers get 429; 0: no limit.',
  },
  {
    name: 'enable-priority-and-fairness', type: 'switch', option: 'enablePriorityAndFairness', default: 'true',
    help: 'Divide the sum of both limits among priority levels (FlowSchemas say whose).',
  },
  {
    name: 'http2-max-streams-per-connection', type: 'integer', option: 'http2MaxStreamsPerConnection', default: '250',
    help: 'Streams on one HTTP/2 connection.',
  },
  {
    name: 'compaction-interval', type: 'duration', option: 'compactionIntervalMs', default: '5m',
    help: 'How often superseded versions are forgotten; 0: never.',
  },
  { name: 'history', type: 'duration', option: 'historyMs', default: '5m', help: 'How long superseded versions are kept at least.' },
  { name: 'controllers', type: 'list', option: 'controllers', default: '*', help: 'Controllers to run: * for all, a name, or -name for all but it.' },
  { name: 'feature-gates', type: 'list', option: 'featureGates', help: 'Accepted for compatibility.' },
  { name: 'runtime-config', type: 'list', option: 'runtimeConfig', help: 'Accepted for compatibility.' },
  { name: 'shutdown-delay-duration', type: 'duration', option: 'shutdownDelayMs', default: '0s', help: 'Time between failing /readyz and closing the port.' },
  { name: 'shutdown-grace', type: 'duration', option: 'shutdownGraceMs', default: '10s', help: 'How long requests in progress may take to finish at the end.' },
  { name: 'etcd-servers', type: 'list', option: 'etcdServers',
    help: 'Servers of an etcd cluster to store in (scheme://host:port,…), instead of in --data-dir.' },
  { name: 'etcd-prefix', type: 'text', option: 'etcdPrefix', default: '/registry', help: 'Where the keys in etcd begin.' },
  { name: 'etcd-cafile', type: 'text', option: 'etcdCaFile', help: 'Authorities (PEM) that the certificate of etcd may come from.' },
  { name: 'etcd-certfile', type: 'text', option: 'etcdCertFile', help: 'Certificate (PEM) to show to etcd.' },
  { name: 'etcd-keyfile', type: 'text', option: 'etcdKeyFile', help: 'Private key of the certificate shown to etcd.' },
  {
    name: 'etcd-compaction-interval', type: 'duration', option: 'etcdCompactionIntervalMs', default: '5m',
    help: 'How often one of the servers on an etcd compacts it; 0: never.',
  },
  {
    name: 'storage-media-type', type: 'text', option: 'storageMediaType', default: 'application/json',
    help: 'How built-in resources are written: application/json or application/vnd.kubernetes.protobuf; both are read.',
  },
  { name: 'encryption-provider-config', type: 'text', option: 'encryptionProviderConfig',
    help: 'EncryptionConfiguration (YAML): which resources are encrypted in the store, and how.' },
  { name: 'v', type: 'integer', option: 'verbosity', default: '0', help: 'Log level: 1 start and stop, 2 controllers, 3 requests, 4 connections.' },
];
