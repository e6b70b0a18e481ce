// Flags of kube-apiserver 1.36 that are no options here. Some have no meaning here: they are accepted with a warning, so that its manifests and
// scripts can be used as they are. Others would weaken the server or change what it serves if they were ignored: the start is refused, unless
// the value asks for what the server does anyway.

/** What becomes of a flag of kube-apiserver that is no option here. */
export interface ReferenceFlag {
  readonly takesValue: boolean;
  /** `warned`: accepted without effect. `refused`: an error, unless the value is one of `accepts`. */
  readonly effect: 'warned' | 'refused';
  readonly accepts: readonly string[];
}

const warned = (takesValue: boolean, names: string): [string, ReferenceFlag][] =>
  names.trim().split(/\s+/).map((name) => [name, { takesValue, effect: 'warned', accepts: [] }]);

const refused = (name: string, ...accepts: readonly string[]): [string, ReferenceFlag] => [name, { takesValue: true, effect: 'refused', accepts }];

const refusedSwitch = (name: string, ...accepts: readonly ('true' | 'false')[]): [string, ReferenceFlag] =>
  [name, { takesValue: false, effect: 'refused', accepts }];

/** Every flag of kube-apiserver that is no option here, by name. */
export const referenceFlags: ReadonlyMap<string, ReferenceFlag> = new Map([
  refusedSwitch('allow-privileged', 'true'),
  refused('authorization-policy-file'),
  refusedSwitch('disable-http2-serving', 'false'),
  refused('egress-selector-config-file'),
  refused('emulated-version', '1.36', 'kube=1.36'),
  refusedSwitch('encryption-provider-config-automatic-reload', 'false'),
  refused('etcd-servers-overrides'),
  refused('service-account-signing-endpoint'),
  refusedSwitch('service-account-lookup', 'true'),
  refused('service-node-port-range', '30000-32767'),
  refused('tracing-config-file'),
  ...warned(false, `
    alsologtostderr contention-profiling enable-garbage-collector enable-logs-handler kubelet-https
    logtostderr permit-address-sharing permit-port-sharing profiling watch-cache`),
  ...warned(true, `
    admission-control allow-metric-labels allow-metric-labels-manifest apiserver-count debug-socket-path default-watch-cache-size
    delete-collection-workers disabled-metrics endpoint-reconciler-type etcd-count-metric-poll-period etcd-db-metric-poll-interval
    etcd-healthcheck-timeout etcd-readycheck-timeout external-hostname identity-lease-duration-seconds
    identity-lease-renew-interval-seconds kubelet-read-only-port kubelet-timeout kubernetes-service-node-port lease-reuse-duration-seconds
    log-flush-frequency log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream
    logging-format max-connection-bytes-per-sec min-compatibility-version peer-advertise-ip peer-advertise-port peer-ca-file
    runtime-config-emulation-forward-compatible service-account-api-audiences show-hidden-metrics-for-version
    storage-backend storage-initialization-timeout tls-curve-preferences vmodule watch-cache-sizes`),
]);
