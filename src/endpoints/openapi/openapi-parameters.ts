// Query and path parameters of operations, as data for the documents of OpenAPI v2 and v3.
import type { Operation, ParameterSet } from './openapi-operations.ts';

/** One parameter. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'integer' | 'boolean';
}

const text = (name: string): Parameter => ({ name, in: 'query', type: 'string' });
const flag = (name: string): Parameter => ({ name, in: 'query', type: 'boolean' });
const count = (name: string): Parameter => ({ name, in: 'query', type: 'integer' });

const listParameters: readonly Parameter[] = [
  flag('allowWatchBookmarks'), text('continue'), text('fieldSelector'), text('labelSelector'), count('limit'), text('resourceVersion'),
  text('resourceVersionMatch'), flag('sendInitialEvents'), text('shardSelector'), count('timeoutSeconds'), flag('watch'),
];
const writeParameters: readonly Parameter[] = [text('dryRun'), text('fieldManager'), text('fieldValidation')];
const deleteParameters: readonly Parameter[] = [
  text('dryRun'), count('gracePeriodSeconds'), flag('ignoreStoreReadErrorWithClusterBreakingPotential'), flag('orphanDependents'), text('propagationPolicy'),
];
const parameterSets: Readonly<Record<ParameterSet, readonly Parameter[]>> = {
  list: listParameters, get: [text('resourceVersion')], write: writeParameters, patch: [...writeParameters, flag('force')], delete: deleteParameters, none: [],
};

/** Options of connections, by the kind that holds them. */
const connectParameters: Readonly<Record<string, readonly Parameter[]>> = {
  PodExecOptions: [text('command'), text('container'), flag('stderr'), flag('stdin'), flag('stdout'), flag('tty')],
  PodAttachOptions: [text('container'), flag('stderr'), flag('stdin'), flag('stdout'), flag('tty')],
  PodPortForwardOptions: [count('ports')], NodeProxyOptions: [text('path')], PodProxyOptions: [text('path')], ServiceProxyOptions: [text('path')],
};
const logParameters: readonly Parameter[] = [
  text('container'), flag('follow'), flag('insecureSkipTLSVerifyBackend'), count('limitBytes'), flag('previous'), count('sinceSeconds'), text('stream'),
  count('tailLines'), flag('timestamps'),
];
const collectionDeleteParameters: readonly Parameter[] = [
  ...deleteParameters, ...listParameters.filter(({ name }) => !['allowWatchBookmarks', 'watch'].includes(name)),
];
const prettyParameter = text('pretty');

/** Parameters of the method itself, without those of the path. */
export function queryParameters({ parameters, action, kind, path, body }: Operation): readonly Parameter[] {
  if (action === 'deletecollection') return body === undefined ? listParameters : collectionDeleteParameters;
  if (action === 'connect') return connectParameters[kind?.kind ?? ''] ?? [];
  return path.endsWith('/log') ? logParameters : parameterSets[parameters];
}

const connectionPath = /\/(?:attach|exec|portforward|proxy)(?:\/|$)/;

/** Parameters that all methods of a path share. */
export function pathParameters(path: string): Parameter[] {
  const names = [...path.matchAll(/\{([a-z]+)\}/g)].map(([, name]) => name as string);
  const inPath = names.sort().map((name): Parameter => ({ name, in: 'path', type: 'string' }));
  return path.endsWith('/') || connectionPath.test(path) ? inPath : [...inPath, prettyParameter];
}
