// Options of what the API does by itself: admission, controllers, Service addresses, feature gates.
import { optionalPlugins, pluginNames, parsePortRange } from '../../admission/index.ts';
import { type IpRange, parseIpRange, quoteGo } from '../../apimachinery/index.ts';
import { checkAllowedLabels } from '../metrics/allowed-labels.ts';
import { checkFeatureGates, switchableGates } from './feature-gates.ts';
import { duration, integer, list, text, texts, toggle, words } from './schema.ts';

const SMALLEST_RANGE_BITS = 3;

/** Names of the controllers, for `--controllers`. */
export const controllerNames = [
  'bootstrap', 'bootstrap-roles', 'clusterrole-aggregation', 'namespace', 'serviceaccount', 'serviceaccount-token', 'root-ca-cert-publisher',
  'garbage-collector', 'kubernetes-service', 'csrsigning', 'extension-apiserver-authentication', 'flow-control', 'apiservices', 'apiserver-identity',
  'resourcequota', 'leader-election',
  'validatingadmissionpolicy-status', 'pvc-protection', 'pv-protection', 'vac-protection',
] as const;

/** Name of a controller. */
export type ControllerName = (typeof controllerNames)[number];

/** Whether Services can have addresses of a range: not too few, nor so many that the reference counts none. */
function hasAddresses({ family, size }: IpRange): boolean {
  const bits = family === 'IPv4' ? 32 : 128;
  return size >= 1n << BigInt(SMALLEST_RANGE_BITS) && size < 1n << BigInt(bits - 1);
}

/** One range, or one of each family; faults are in the reference's words. */
function checkRanges(text: string): string | undefined {
  const ranges = text.split(',').map(parseIpRange);
  const wrong = ranges.indexOf(undefined);
  if (wrong === 0) return 'service-cluster-ip-range[0] is not a valid cidr';
  if (wrong === 1) return 'service-cluster-ip-range[1] is not an ip net';
  if (ranges.length > 2) return 'must not contain more than two entries';
  const [first, second] = ranges as [IpRange, IpRange?];
  if (first.family === second?.family) return '--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family';
  const small = [first, second].findIndex((range) => range !== undefined && !hasAddresses(range));
  if (small < 0) return undefined;
  const why = 'the service cluster IP range must be at least 8 IP addresses';
  return `--service-cluster-ip-range: error determining service IP ranges for ${small === 0 ? 'primary' : 'secondary'} service cidr: ${why}`;
}

function checkPortRange(text: string): string | undefined {
  const range = parsePortRange(text);
  return typeof range === 'string' ? `invalid argument ${quoteGo(text)} for "--service-node-port-range" flag: ${range}` : undefined;
}

const isController = (name: string): boolean => name === '*' || controllerNames.some((known) => known === name.replace(/^-/, ''));

function checkControllers(names: readonly string[]): string | undefined {
  const wrong = names.find((name) => !isController(name));
  return wrong === undefined ? undefined : `${JSON.stringify(wrong)} is not one of *, ${controllerNames.join(', ')}`;
}

/** Refuses unknown names in the reference's words. */
const checkPlugins = (flag: string) => (names: readonly string[]): string | undefined => {
  const wrong = names.find((name) => !pluginNames.includes(name));
  return wrong === undefined ? undefined : `${flag} plugin ${quoteGo(wrong)} is unknown`;
};

const METRIC_NAME = '^[a-zA-Z_:][a-zA-Z0-9_:]*$';

/** Refuses names that no metric can have, in the reference's words. */
function checkMetrics(names: readonly string[]): string | undefined {
  const form = new RegExp(METRIC_NAME);
  const wrong = names.find((name) => !form.test(name));
  return wrong === undefined ? undefined
    : `metrics.disabledMetrics: Invalid value: ${JSON.stringify(names)}: must be fully qualified metric names matching `
      + `${quoteGo(METRIC_NAME)}, got ${quoteGo(wrong)}`;
}

const checkEventTtl = (ms: number): string | undefined => (ms >= 1000 && ms % 1000 === 0 ? undefined : 'must be at least a second, and whole seconds');

/** What happens to objects beyond storing them. */
export const behaviourOptions = {
  enableAdmissionPlugins: list({
    flag: 'enable-admission-plugins', check: checkPlugins('enable-admission-plugins'),
    help: `Admission plugins besides those that are on by default: ${[...optionalPlugins].join(', ')}.`,
  }),
  disableAdmissionPlugins: list({
    flag: 'disable-admission-plugins', check: checkPlugins('disable-admission-plugins'), help: 'Admission plugins that are on by default and shall not be.',
  }),
  admissionControlConfigFile: text({
    flag: 'admission-control-config-file', help: 'File with an AdmissionConfiguration: configuration of admission plugins, and credentials for webhooks.',
  }),
  enableAggregatorRouting: toggle({
    flag: 'enable-aggregator-routing', default: false, help: 'Reach Services of webhooks and APIServices by their endpoints only, never by the cluster IP.',
  }),
  allowPrivileged: toggle({
    flag: 'allow-privileged', default: true, flagDefault: 'false', help: 'Accept privileged containers. In the library the default is true.',
  }),
  serviceClusterIpRange: text({
    flag: 'service-cluster-ip-range', default: '10.0.0.0/24', check: checkRanges,
    help: 'Range of Service addresses, or one of each family with a comma between; the first address is the server\'s own.',
  }),
  serviceNodePortRange: text({
    flag: 'service-node-port-range', default: '30000-32767', check: checkPortRange, help: 'Ports of nodes that Services get: first-last.',
  }),
  defaultNotReadyTolerationSeconds: integer({
    flag: 'default-not-ready-toleration-seconds', default: 300, help: 'Seconds that pods stay on a node that is not ready, unless they name others.',
  }),
  defaultUnreachableTolerationSeconds: integer({
    flag: 'default-unreachable-toleration-seconds', default: 300, help: 'Seconds that pods stay on a node out of reach, unless they name others.',
  }),
  eventTtlMs: duration({
    flag: 'event-ttl', default: 3_600_000, flagDefault: '1h', check: checkEventTtl, help: 'How long Events are kept; whole seconds.',
  }),
  controllers: words({
    flag: 'controllers', default: ['*'], check: checkControllers, help: 'Controllers to run: * for all, a name, or -name for all but it.',
  }),
  allowMetricLabels: texts({
    flag: 'allow-metric-labels', check: checkAllowedLabels,
    help: 'Values that a label of a metric may have ("metric,label=value,value",…); others are shown as unexpected.',
  }),
  allowMetricLabelsManifest: text({
    flag: 'allow-metric-labels-manifest', help: 'File (YAML) with the same: a list of values, separated by commas, for each metric,label.',
  }),
  disabledMetrics: list({ flag: 'disabled-metrics', check: checkMetrics, help: 'Names of metrics that /metrics leaves out.' }),
  featureGates: words({
    flag: 'feature-gates', check: checkFeatureGates,
    help: `Feature gates (name=true,…). These can be switched: ${switchableGates.join(', ')}; gates `
      + 'that are about other components are accepted, others of kube-apiserver warn unless their default is asked for.',
  }),
  runtimeConfig: words({
    flag: 'runtime-config',
    help: 'Versions that are served or not: api/all, api/ga, api/beta, api/alpha, group/version or group/version/resource (=true or =false,…).',
  }),
} as const;

/** The versions without which flow control has no configuration, the most exact first. */
const flowVersions = ['flowcontrol.apiserver.k8s.io/v1', 'api/ga', 'api/all'];

/** Reports versions that are switched off and that flow control needs, in the reference's words. */
export function findFlowConflicts({ enablePriorityAndFairness, runtimeConfig }: {
  readonly enablePriorityAndFairness: boolean; readonly runtimeConfig: readonly string[];
}): readonly string[] {
  const settings = new Map(runtimeConfig.map((text) => text.split('=', 2)).map(([key = '', isOn = '']) => [key, isOn]));
  const decides = flowVersions.find((key) => ['true', 'false'].includes(settings.get(key) ?? ''));
  if (!enablePriorityAndFairness || decides === undefined || settings.get(decides) === 'true') return [];
  return [`--runtime-config=${decides}=false conflicts with --enable-priority-and-fairness=true`];
}
