// TracingConfiguration (apiserver.config.k8s.io), read strictly: where spans are sent, and how many of the requests that no caller traces have them.
import { parseUrl } from '../../apimachinery/index.ts';
import { ABSTRACT_REFUSED, ConfigReader, configVersions, parseConfigFile, reachesAbstractSockets } from '../config-files/config-file.ts';

/** What a file asks for. */
export interface TracingSettings {
  /** host:port of the collector, or the path of its Unix socket. */
  readonly collector: { readonly host: string } | { readonly socketPath: string };
  /** Of a million requests, those that are traced though their callers do not ask for it. */
  readonly samplingRatePerMillion: number;
}

const FLAG = '--tracing-config-file';
const kinds = { TracingConfiguration: configVersions('v1', 'v1beta1', 'v1alpha1') };
const MILLION = 1_000_000;
const DEFAULT_COLLECTOR = 'localhost:4317';
const DEFAULT_PORT = 443;

/** The settings of a file. Throws StartError that names the fields. */
export async function readTracingConfiguration(content: string): Promise<TracingSettings> {
  const reader = new ConfigReader(FLAG);
  const known = ['apiVersion', 'kind', 'endpoint', 'samplingRatePerMillion'];
  const file = reader.fields(await parseConfigFile(FLAG, content, kinds), '', known);
  const rate = file['samplingRatePerMillion'] ?? 0;
  if (!Number.isInteger(rate)) reader.fault('samplingRatePerMillion', rate, 'must be a whole number');
  else if ((rate as number) < 0) reader.invalid('samplingRatePerMillion', rate, 'sampling rate must be positive');
  else if ((rate as number) > MILLION) {
    reader.invalid('samplingRatePerMillion', rate, 'sampling rate per million must be less than or equal to one million');
  }
  const collector = readEndpoint(reader, reader.text(file['endpoint'], 'endpoint') || DEFAULT_COLLECTOR);
  reader.finish();
  return { collector, samplingRatePerMillion: rate as number };
}

const schemes = ['dns', 'unix', 'unix-abstract'];
const isNumber = (text: string): boolean => text !== '' && Number.isInteger(Number(text));

/** Checks an endpoint as a URL; a name without two slashes is one that DNS knows. */
function checkEndpoint(reader: ConfigReader, endpoint: string): void {
  const shown = endpoint.includes('//') ? endpoint : `dns://${endpoint}`;
  const url = parseUrl(shown);
  if (typeof url === 'string') reader.invalid('endpoint', shown, url);
  else if (!schemes.includes(url.scheme)) {
    reader.invalid('endpoint', shown,
      `unsupported scheme: ${url.scheme}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`);
  }
}

/** The names of gRPC: `host:port`, `dns:///host:port`, `unix:///path`. */
function readEndpoint(reader: ConfigReader, endpoint: string): TracingSettings['collector'] {
  checkEndpoint(reader, endpoint);
  const [before, after] = endpoint.split('://', 2) as [string, string?];
  const scheme = after === undefined ? 'dns' : before;
  // A name server may stand in front of the name; it is not asked here.
  const rest = after === undefined ? before : after.slice(after.indexOf('/') + 1);
  if (scheme === 'unix') return { socketPath: `/${rest}` };
  if (scheme === 'unix-abstract') {
    if (!reachesAbstractSockets()) reader.invalid('endpoint', endpoint, ABSTRACT_REFUSED);
    return { socketPath: `\0${rest}` };
  }
  return { host: isNumber(rest.slice(rest.lastIndexOf(':') + 1)) ? rest : `${rest}:${DEFAULT_PORT}` };
}
