// Flags of kube-apiserver 1.36 that are no options here. Some have no meaning here: they are accepted with a warning, so that its manifests and
// scripts can be used as they are. Others would weaken the server or change what it serves if they were ignored: the start is refused, unless
// the value asks for what the server does anyway.

import type { FlagType } from './go-values.ts';

/** What becomes of a flag of kube-apiserver that is no option here. A value that its type does not have is an error in any case. */
export interface ReferenceFlag {
  readonly type: FlagType;
  /** `warned`: accepted without effect. `refused`: an error, unless the value is one of `accepts`. */
  readonly effect: 'warned' | 'refused';
  readonly accepts: readonly (string | number | boolean)[];
}

const warned = (type: FlagType, names: string): [string, ReferenceFlag][] =>
  names.trim().split(/\s+/).map((name) => [name, { type, effect: 'warned', accepts: [] }]);

const refused = (type: FlagType, name: string, ...accepts: ReferenceFlag['accepts']): [string, ReferenceFlag] => [name, { type, effect: 'refused', accepts }];

/** Every flag of kube-apiserver that is no option here, by name. */
export const referenceFlags: ReadonlyMap<string, ReferenceFlag> = new Map([
  refused('text', 'admission-control'),
  refused('text', 'debug-socket-path'),
  refused('text', 'emulated-version', '1.36', 'kube=1.36'),
  refused('switch', 'emulation-forward-compatible', false),
  refused('switch', 'enable-garbage-collector', true),
  refused('switch', 'enable-logs-handler', false),
  refused('integer', 'kubernetes-service-node-port', 0),
  refused('switch', 'runtime-config-emulation-forward-compatible', false),
  refused('text', 'storage-backend', 'etcd3'),
  ...warned('switch', `
    alsologtostderr contention-profiling kubelet-https log-json-split-stream log-text-split-stream logtostderr permit-address-sharing permit-port-sharing`),
  ...warned('integer', `
    apiserver-count default-watch-cache-size delete-collection-workers identity-lease-duration-seconds identity-lease-renew-interval-seconds
    lease-reuse-duration-seconds`),
  ...warned('natural', 'kubelet-read-only-port'),
  ...warned('duration', `
    coordinated-leadership-lease-duration coordinated-leadership-renew-deadline coordinated-leadership-retry-period etcd-count-metric-poll-period
    etcd-db-metric-poll-interval etcd-healthcheck-timeout etcd-readycheck-timeout kubelet-timeout log-flush-frequency storage-initialization-timeout`),
  ...warned('quantity', 'log-json-info-buffer-size log-text-info-buffer-size'),
  ...warned('list', 'min-compatibility-version service-account-api-audiences watch-cache-sizes'),
  ...warned('text', 'peer-advertise-ip peer-advertise-port peer-ca-file show-hidden-metrics-for-version'),
  ...warned('patterns', 'vmodule'),
]);
