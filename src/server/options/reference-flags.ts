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
  refused('admission-control'),
  refused('debug-socket-path'),
  refused('emulated-version', '1.36', 'kube=1.36'),
  refusedSwitch('emulation-forward-compatible', 'false'),
  refusedSwitch('enable-garbage-collector', 'true'),
  refusedSwitch('enable-logs-handler', 'false'),
  refused('kubernetes-service-node-port', '0'),
  refusedSwitch('runtime-config-emulation-forward-compatible', 'false'),
  refused('storage-backend', 'etcd3'),
  ...warned(false, `
    alsologtostderr contention-profiling kubelet-https log-json-split-stream log-text-split-stream logtostderr permit-address-sharing permit-port-sharing`),
  ...warned(true, `
    apiserver-count coordinated-leadership-lease-duration coordinated-leadership-renew-deadline coordinated-leadership-retry-period
    default-watch-cache-size delete-collection-workers etcd-count-metric-poll-period etcd-db-metric-poll-interval
    etcd-healthcheck-timeout etcd-readycheck-timeout identity-lease-duration-seconds identity-lease-renew-interval-seconds
    kubelet-read-only-port kubelet-timeout
    lease-reuse-duration-seconds log-flush-frequency log-json-info-buffer-size log-text-info-buffer-size
    min-compatibility-version peer-advertise-ip peer-advertise-port peer-ca-file service-account-api-audiences show-hidden-metrics-for-version
    storage-initialization-timeout vmodule watch-cache-sizes`),
]);
