// Flags of kube-apiserver 1.36 that have nothing to act on here.

/** Flags without a value of their own (`--flag` or `--flag=true`). */
export const ignoredSwitches: ReadonlySet<string> = new Set([
  'aggregator-reject-forwarding-redirect', 'allow-privileged', 'audit-log-compress', 'audit-log-truncate-enabled', 'audit-webhook-truncate-enabled',
  'audit-log-batch-throttle-enable', 'audit-webhook-batch-throttle-enable', 'contention-profiling', 'enable-aggregator-routing',
  'enable-garbage-collector', 'enable-logs-handler',
  'encryption-provider-config-automatic-reload', 'kubelet-https', 'permit-address-sharing', 'permit-port-sharing', 'profiling',
  'service-account-lookup', 'shutdown-send-retry-after', 'watch-cache', 'logtostderr', 'alsologtostderr',
  'disable-http2-serving',
]);

/** Flags with a value. */
export const ignoredValues: ReadonlySet<string> = new Set([
  'admission-control', 'admission-control-config-file', 'apiserver-count', 'audit-log-batch-buffer-size',
  'audit-log-batch-max-size', 'audit-log-batch-max-wait', 'audit-log-batch-throttle-burst', 'audit-log-batch-throttle-qps', 'audit-log-format',
  'audit-log-maxage', 'audit-log-maxbackup', 'audit-log-maxsize', 'audit-log-mode', 'audit-log-path', 'audit-log-truncate-max-batch-size',
  'audit-log-truncate-max-event-size', 'audit-log-version', 'audit-policy-file', 'audit-webhook-batch-buffer-size',
  'audit-webhook-batch-initial-backoff', 'audit-webhook-batch-max-size', 'audit-webhook-batch-max-wait', 'audit-webhook-batch-throttle-burst',
  'audit-webhook-batch-throttle-qps', 'audit-webhook-config-file', 'audit-webhook-initial-backoff', 'audit-webhook-mode',
  'audit-webhook-truncate-max-batch-size', 'audit-webhook-truncate-max-event-size', 'audit-webhook-version',
  'authorization-policy-file',
  'cors-allowed-origins', 'debug-socket-path',
  'default-not-ready-toleration-seconds', 'default-unreachable-toleration-seconds', 'default-watch-cache-size', 'delete-collection-workers',
  'disabled-metrics', 'egress-selector-config-file', 'emulated-version',
  'endpoint-reconciler-type', 'etcd-count-metric-poll-period', 'etcd-db-metric-poll-interval', 'etcd-healthcheck-timeout',
  'etcd-readycheck-timeout', 'etcd-servers-overrides', 'event-ttl', 'external-hostname', 'goaway-chance', 'identity-lease-duration-seconds',
  'identity-lease-renew-interval-seconds', 'kubelet-certificate-authority', 'kubelet-client-certificate', 'kubelet-client-key', 'kubelet-port',
  'kubelet-preferred-address-types', 'kubelet-read-only-port', 'kubelet-timeout', 'kubernetes-service-node-port', 'lease-reuse-duration-seconds',
  'livez-grace-period', 'log-flush-frequency', 'log-json-info-buffer-size', 'log-json-split-stream', 'log-text-info-buffer-size',
  'log-text-split-stream', 'logging-format', 'max-connection-bytes-per-sec', 'min-compatibility-version',
  'peer-advertise-ip', 'peer-advertise-port', 'peer-ca-file', 'proxy-client-cert-file', 'proxy-client-key-file',
  'runtime-config-emulation-forward-compatible', 'service-account-api-audiences',
  'service-account-signing-endpoint', 'service-node-port-range', 'shutdown-watch-termination-grace-period',
  'storage-backend', 'storage-initialization-timeout', 'strict-transport-security-directives', 'tls-cipher-suites',
  'tls-curve-preferences', 'tls-min-version', 'tls-sni-cert-key', 'tracing-config-file', 'vmodule', 'allow-metric-labels-manifest',
  'watch-cache-sizes', 'show-hidden-metrics-for-version', 'allow-metric-labels',
]);
