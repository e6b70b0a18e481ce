// Options of the store: how long history is kept, etcd, PostgreSQL, the form of stored values.
import { isPostgresUrl, redactPostgresUrl } from '../../storage/index.ts';
import { parseOverrides } from './etcd-overrides.ts';
import { checks, duration, list, text, toggle, words } from './schema.ts';

const isPath = (prefix: string): boolean => prefix.replace(/^\//, '').replace(/\/$/, '').split('/').every((part) => part !== '');

/** Where objects are kept, and how. */
export const storageOptions = {
  compactionIntervalMs: duration({
    flag: 'compaction-interval', default: 300_000, flagDefault: '5m', check: checks.notNegative,
    help: 'How often superseded revisions are removed; 0: never.',
  }),
  historyMs: duration({
    flag: 'history', default: 300_000, flagDefault: '5m', check: checks.notNegative,
    help: 'How long superseded revisions are kept at least, for exact reads and watches that resume.',
  }),
  watchCache: toggle({
    flag: 'watch-cache', default: true, help: 'Serve lists from any state (resourceVersion=0) whole; when false, they take a limit as all others do.',
  }),
  etcdServers: words({ flag: 'etcd-servers', help: 'Servers of an etcd cluster to store in (scheme://host:port,…), instead of in --data-dir.' }),
  etcdServersOverrides: list({
    flag: 'etcd-servers-overrides',
    help: 'Etcd servers of single built-in resources (group/resource#servers,…; servers with semicolons between; no group for the core, * for all of a group).',
    check: (texts) => (parseOverrides(texts) === undefined
      ? 'invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated' : undefined),
  }),
  etcdPrefix: text({
    flag: 'etcd-prefix', default: '/registry', help: 'Where the keys in etcd begin.',
    check: (prefix) => (isPath(prefix) ? undefined : `must be a path such as /registry, not ${JSON.stringify(prefix)}`),
  }),
  etcdCaFile: text({ flag: 'etcd-cafile', help: 'Authorities (PEM) that the certificate of etcd may come from.' }),
  etcdCertFile: text({ flag: 'etcd-certfile', help: 'Certificate (PEM) to show to etcd.' }),
  etcdKeyFile: text({ flag: 'etcd-keyfile', help: 'Private key of the certificate shown to etcd.' }),
  etcdCompactionIntervalMs: duration({
    flag: 'etcd-compaction-interval', default: 300_000, flagDefault: '5m', check: checks.notNegative,
    help: 'How often one of the servers on an etcd compacts it; 0: never.',
  }),
  datastoreEndpoint: text({
    flag: 'datastore-endpoint', shown: redactPostgresUrl,
    help: 'PostgreSQL to store in (postgres://user:password@host:port/database), instead of in --data-dir; parameters: sslmode, sslrootcert, sslcert, sslkey, schema.',
    check: (url) => (url === '' || isPostgresUrl(url) ? undefined : 'must begin with postgres:// (an etcd is named by --etcd-servers)'),
  }),
  datastoreCaFile: text({ flag: 'datastore-cafile', help: 'Authorities (PEM) that the certificate of PostgreSQL may come from.' }),
  datastoreCertFile: text({ flag: 'datastore-certfile', help: 'Certificate (PEM) to show to PostgreSQL.' }),
  datastoreKeyFile: text({ flag: 'datastore-keyfile', help: 'Private key of the certificate shown to PostgreSQL.' }),
  storageMediaType: text({
    flag: 'storage-media-type', default: 'application/json', check: checks.oneOf('application/json', 'application/vnd.kubernetes.protobuf'),
    help: 'How built-in resources are written: application/json or application/vnd.kubernetes.protobuf; both are read.',
  }),
  encryptionProviderConfig: text({
    flag: 'encryption-provider-config', help: 'EncryptionConfiguration (YAML): which resources are encrypted in the store, and how.',
  }),
  encryptionProviderConfigAutomaticReload: toggle({
    flag: 'encryption-provider-config-automatic-reload', default: false, help: 'Read the EncryptionConfiguration again when it changes.',
  }),
} as const;
