// Subresources that are connections: exec, attach, port-forward and proxies, whose options come from the query and pass admission as CONNECT,
// and logs, which are read without it. The `connect` function of the dependencies makes the connection.
import { badRequest, type KubeObject } from '../../apimachinery/index.ts';
import { admitUnstored, type GroupVersionKind, type Subresource } from '../../registry/index.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Exchange, Response } from '../exchange.ts';
import { isTrue } from '../request/request-info.ts';
import { writeContext } from '../request/resource-request.ts';
import { namelessPath, routeNotFound } from '../response/errors.ts';

type OptionType = 'boolean' | 'text' | 'texts' | 'integers';

const streams = { stdin: 'boolean', stdout: 'boolean', stderr: 'boolean', tty: 'boolean', container: 'text' } as const;

/** Fields of the option kinds, in the order of the reference; the only option of a proxy is the rest of the path. */
const options: Readonly<Record<string, Readonly<Record<string, OptionType>>>> = {
  PodExecOptions: { ...streams, command: 'texts' }, PodAttachOptions: streams, PodPortForwardOptions: { ports: 'integers' },
};

const MAX_PORT = 65_535;

function readPort(text: string): number {
  const fail = (why: string): Error => badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^\d+$/.test(text)) throw fail('invalid syntax');
  if (Number(text) > MAX_PORT) throw fail('value out of range');
  return Number(text);
}

function readOption(texts: readonly string[], type: OptionType): unknown {
  if (type === 'boolean') return isTrue(texts);
  if (type === 'integers') return texts.flatMap((text) => text.split(',')).map(readPort);
  return type === 'texts' ? texts : texts[0];
}

/** The part of the path after the subresource, with its slashes. */
function subpathOf({ info: { parts }, path }: Exchange): string {
  const rest = parts.slice(3).join('/');
  const subpath = rest === '' || rest.startsWith('/') ? rest : `/${rest}`;
  return path.endsWith('/') && !subpath.endsWith('/') ? `${subpath}/` : subpath;
}

/** The options of a connection, as an object of their kind without false and empty fields. */
function readOptions(exchange: Exchange, { group, version, kind }: GroupVersionKind): KubeObject {
  const type = { kind, apiVersion: group === '' ? version : `${group}/${version}` };
  const fields = options[kind];
  if (fields === undefined) {
    const path = subpathOf(exchange);
    return { ...type, ...(path !== '' && { path }) } as unknown as KubeObject;
  }
  const given = Object.entries(fields).map(([name, option]) => [name, readOption(exchange.query.getAll(name), option)] as const);
  return { ...type, ...Object.fromEntries(given.filter(([, value]) => value && (!Array.isArray(value) || value.length > 0))) } as unknown as KubeObject;
}

/** Admission of the connection: the options as it leaves them. */
function admitOptions(request: ResourceRequest, subresource: string, kind: GroupVersionKind): Promise<KubeObject> {
  const { exchange, dependencies: { admission }, target, name } = request;
  const context = writeContext(request, { dryRun: [], fieldManager: '', fieldValidation: '', force: undefined });
  return admitUnstored(admission, { operation: 'CONNECT', target, subresource, name, object: readOptions(exchange, kind), context });
}

/** Opens the connection of a subresource. */
export async function handleConnect(request: ResourceRequest, { connect, kind, name: subresource }: Subresource): Promise<Response> {
  const { exchange, dependencies, target, name } = request;
  if (dependencies.connect === undefined || (subresource !== 'proxy' && exchange.info.parts.length > 3)) throw routeNotFound();
  if (connect === true && exchange.query.has('dryRun')) throw badRequest('dryRun is not supported');
  if (name === '') throw namelessPath();
  const options = connect === true && kind !== undefined ? await admitOptions(request, subresource, kind) : undefined;
  return dependencies.connect({ exchange, target, name, subresource, options });
}
