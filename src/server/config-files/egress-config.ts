// EgressSelectorConfiguration: which proxies lead to the control plane, into the cluster and to etcd. Problems are worded as in the reference. Tunnels
// by gRPC, and proxies before etcd, are refused: they are not built.
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { readTextFile } from '../data-directory.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import { type Egress, type EgressProxy, dialThrough, directEgress } from '../webhooks/egress.ts';
import { ConfigReader, type Fields, parseConfigFile } from './config-file.ts';

const FLAG = '--egress-selector-config-file';
const AT = 'service.connection';
const kinds = { EgressSelectorConfiguration: ['apiserver.k8s.io/v1beta1', 'apiserver.k8s.io/v1alpha1'] };
/** Of the control plane, in the first version of the file. */
const FORMER_NAME = 'master';
const names = ['cluster', 'controlplane', 'etcd'];
const protocols = ['Direct', 'HTTPConnect', 'GRPC'] as const;

/** Reads what the flag names. Throws StartError for what cannot be used or honoured. */
export async function readEgress({ egressSelectorConfigFile: path, clock }: Pick<ServerOptions, 'egressSelectorConfigFile' | 'clock'>): Promise<Egress> {
  if (path === '') return directEgress;
  const reader = new ConfigReader(FLAG);
  const file = await parseConfigFile(FLAG, readTextFile(FLAG, path), kinds);
  const config = reader.fields(file, '', ['apiVersion', 'kind', 'egressSelections']);
  const proxies = new Map<string, EgressProxy | undefined>();
  for (const [index, value] of reader.list(config['egressSelections'], 'egressSelections').entries()) {
    const at = `egressSelections[${index}]`;
    const selection = reader.fields(value, at, ['name', 'connection']);
    const given = reader.text(selection['name'], `${at}.name`);
    const name = given === FORMER_NAME && config['apiVersion'] === 'apiserver.k8s.io/v1alpha1' ? 'controlplane' : given.toLowerCase();
    const proxy = readConnection(selection['connection'], at, reader);
    if (proxies.has(name)) reader.duplicate(`${AT}[${index}]`, name);
    else if (!names.includes(name)) reader.choice(name === '' ? '""' : name, AT, names);
    else proxies.set(name, proxy);
  }
  if (proxies.get('etcd') !== undefined) reader.report(AT, 'a proxy before etcd is not supported: etcd must be Direct');
  reader.finish();
  const dialFor = (name: string) => {
    const proxy = proxies.get(name);
    return proxy === undefined ? undefined : dialThrough(proxy, clock);
  };
  return { controlplane: dialFor('controlplane'), cluster: dialFor('cluster'), isConfigured: (name) => proxies.has(name) };
}

/** The proxy of a selection; undefined for none, and where something is wrong. */
function readConnection(value: unknown, at: string, reader: ConfigReader): EgressProxy | undefined {
  const connection = reader.fields(value, `${at}.connection`, ['proxyProtocol', 'transport']);
  const protocol = reader.choice(connection['proxyProtocol'] ?? '""', `${AT}.protocol`, protocols);
  const { transport } = connection;
  if (protocol === 'GRPC') reader.report(`${AT}.protocol`, 'GRPC is not supported: use HTTPConnect');
  if (protocol === 'Direct' && transport) reader.invalid(`${AT}.transport`, 'direct', 'config must be absent for direct connect');
  if (protocol !== 'HTTPConnect') return undefined;
  if (transport === undefined || transport === null) {
    reader.required(`${AT}.transport`, 'transport must be set for HTTPConnect');
    return undefined;
  }
  const { tcp, uds } = reader.fields(transport, `${at}.connection.transport`, ['tcp', 'uds']);
  if (tcp && uds) reader.invalid(`${AT}.tcp`, tcp, 'TCP and UDS cannot both be set');
  else if (tcp) return readTcp(reader.fields(tcp, `${at}.connection.transport.tcp`, ['url', 'tlsConfig']), at, reader);
  else if (uds) return readSocket(reader.fields(uds, `${at}.connection.transport.uds`, ['udsName']), reader);
  else reader.required(`${AT}.tcp`, 'One of TCP or UDS must be set');
  return undefined;
}

function readSocket(fields: Fields, reader: ConfigReader): EgressProxy | undefined {
  const path = reader.text(fields['udsName'], `${AT}.udsName`);
  if (path === '') reader.invalid(`${AT}.udsName`, 'nil', 'must be present for UDS connections');
  return { path, shown: path };
}

function readTcp(fields: Fields, at: string, reader: ConfigReader): EgressProxy | undefined {
  const text = reader.text(fields['url'], `${AT}.url`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    reader.invalid(`${AT}.url`, text, 'supported connection protocols are http:// and https://');
    return undefined;
  }
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const proxy = { host, port: Number(url.port || (isSecure ? 443 : 80)), shown: url.host };
  const { tlsConfig } = fields;
  const isGiven = tlsConfig !== undefined && tlsConfig !== null;
  if (!isSecure && isGiven) reader.invalid(`${AT}.tlsConfig`, 'nil', 'config must not be present when using HTTP');
  if (!isSecure) return { ...proxy, tls: undefined };
  if (!isGiven) reader.required(`${AT}.tlsConfig`, 'TLSConfig must be present when using HTTPS');
  const tlsFields = reader.fields(tlsConfig, `${at}.connection.transport.tcp.tlsConfig`, ['caBundle', 'clientKey', 'clientCert', 'tlsServerName']);
  const secureContext = isGiven ? readTls(tlsFields, reader) : undefined;
  // The name in a handshake is none that is an address; without one the certificate is held against the host.
  const name = reader.text(tlsFields['tlsServerName'], `${AT}.tlsServerName`) || (isIP(host) === 0 ? host : '');
  return secureContext && { ...proxy, tls: { secureContext, servername: name } };
}

function readTls(fields: Fields, reader: ConfigReader): ReturnType<typeof createSecureContext> | undefined {
  const read = (field: string, missing: string, absent: string): string | undefined => {
    const path = reader.text(fields[field], `${AT}.tlsConfig.${field}`);
    if (path !== '' && existsSync(path)) return readFileSync(path, 'utf8');
    if (path !== '') reader.invalid(`${AT}.tlsConfig.${field}`, path, absent);
    else if (missing !== '') reader.invalid(`${AT}.tlsConfig.${field}`, 'nil', missing);
    return undefined;
  };
  const ca = read('caBundle', '', 'TLS config ca bundle does not exist');
  const cert = read('clientCert', 'Using TLS requires clientCert', 'TLS client cert does not exist');
  const key = read('clientKey', 'Using TLS requires requires clientKey', 'TLS client key does not exist');
  if (cert === undefined || key === undefined) return undefined;
  try {
    return createSecureContext({ cert, key, ...(ca !== undefined && { ca }) });
  } catch (error) {
    throw new StartError(`${FLAG}: failed to read the certificates of a proxy, got ${(error as Error).message}`, { cause: error });
  }
}
