// Options of what the API does by itself: admission, controllers, Service addresses, feature gates.
import { optionalPlugins, pluginNames, parsePortRange } from '../../admission/index.ts';
import { parseIpRange } from '../../apimachinery/index.ts';
import { checkAllowedLabels } from '../metrics/allowed-labels.ts';
import { checkFeatureGates, switchableGates } from './feature-gates.ts';
import { duration, integer, list, text, texts, toggle } from './schema.ts';

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

function checkRange(text: string): string | undefined {
  const range = parseIpRange(text);
  if (range === undefined) return `must be a range such as 10.0.0.0/24, not ${JSON.stringify(text)}`;
  return range.size < 1n << BigInt(SMALLEST_RANGE_BITS) ? 'must have at least 8 addresses' : undefined;
}

/** One range, or one of each family. */
function checkRanges(text: string): string | undefined {
  const ranges = text.split(',');
  const problem = ranges.map(checkRange).find((each) => each !== undefined);
  if (problem !== undefined) return problem;
  if (ranges.length > 2) return 'must not contain more than two entries';
  const [first, second] = ranges.map((range) => parseIpRange(range)?.family);
  return first === second ? 'must name ranges of different families' : undefined;
}

const checkPortRange = (text: string): string | undefined =>
  (parsePortRange(text) === undefined ? `must be a range of ports such as 30000-32767, not ${JSON.stringify(text)}` : undefined);

const isController = (name: string): boolean => name === '*' || controllerNames.some((known) => known === name.replace(/^-/, ''));

function checkControllers(names: readonly string[]): string | undefined {
  const wrong = names.find((name) => !isController(name));
  return wrong === undefined ? undefined : `${JSON.stringify(wrong)} is not one of *, ${controllerNames.join(', ')}`;
}

/** Refuses unknown names in the reference's words. */
function checkPlugins(names: readonly string[]): string | undefined {
  const wrong = names.find((name) => !pluginNames.includes(name));
  return wrong === undefined ? undefined : `plugin ${JSON.stringify(wrong)} is unknown`;
}

const checkEventTtl = (ms: number): string | undefined => (ms >= 1000 && ms % 1000 === 0 ? undefined : 'must be at least a second, and whole seconds');

/** What happens to objects beyond storing them. */
export const behaviourOptions = {
  enableAdmissionPlugins: list({
    flag: 'enable-admission-plugins', check: checkPlugins,
    help: `Admission plugins besides those that are on by default: ${[...optionalPlugins].join(', ')}.`,
  }),
  disableAdmissionPlugins: list({ flag: 'disable-admission-plugins', check: checkPlugins, help: 'Admission plugins that are on by default and shall not be.' }),
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
  controllers: list({
    flag: 'controllers', default: ['*'], check: checkControllers, help: 'Controllers to run: * for all, a name, or -name for all but it.',
  }),
  allowMetricLabels: texts({
    flag: 'allow-metric-labels', check: checkAllowedLabels,
    help: 'Values that a label of a metric may have ("metric,label=value,value",…); others are shown as unexpected.',
  }),
  allowMetricLabelsManifest: text({
    flag: 'allow-metric-labels-manifest', help: 'File (YAML) with the same: a list of values, separated by commas, for each metric,label.',
  }),
  disabledMetrics: list({ flag: 'disabled-metrics', help: 'Names of metrics that /metrics leaves out.' }),
  featureGates: list({
    flag: 'feature-gates', check: checkFeatureGates,
    help: `Feature gates (name=true,…). These can be switched: ${switchableGates.join(', ')}; gates `
      + 'that are about other components are accepted, others of kube-apiserver warn unless their default is asked for.',
  }),
  runtimeConfig: list({
    flag: 'runtime-config',
    help: 'Versions that are served or not: api/all, api/ga, api/beta, api/alpha, group/version or group/version/resource (=true or =false,…).',
  }),
} as const;
