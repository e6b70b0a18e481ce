// Query and path parameters of operations, as data for the documents of OpenAPI v2 and v3.
import type { Operation, ParameterSet } from './openapi-operations.ts';

/** One parameter. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'integer' | 'boolean';
  /** With the name, what v2 shares the parameter as. Upstream hashes its prose for it, so parameters of one name that say something else have another. */
  readonly mark?: string;
}

type Type = Parameter['type'];
const query = (name: string, type: Type, mark?: string): Parameter => ({ name, in: 'query', type, ...(mark !== undefined && { mark }) });
const text = (name: string, mark?: string): Parameter => query(name, 'string', mark);
const flag = (name: string, mark: string): Parameter => query(name, 'boolean', mark);
const count = (name: string, mark: string): Parameter => query(name, 'integer', mark);

/** Names that clients look for in the operations themselves, which v2 therefore does not share: `name`, `dryRun`, `fieldValidation`. */
const dryRun = text('dryRun');
const resourceVersion = text('resourceVersion', '5WAnf1kx');
const listParameters: readonly Parameter[] = [
  flag('allowWatchBookmarks', 'HC2hJt-J'), text('continue', 'QfD61s0i'), text('fieldSelector', 'xIcQKXFG'), text('labelSelector', '5Zw57w4C'),
  count('limit', '1NfNmdNH'), resourceVersion, text('resourceVersionMatch', 't8XhRHeC'), flag('sendInitialEvents', 'rLXlEK_k'),
  text('shardSelector', 'Kgyki_3_'), count('timeoutSeconds', 'yvYezaOC'), flag('watch', 'XNNPZGbK'),
];
const fieldValidation = text('fieldValidation');
const writeParameters: readonly Parameter[] = [dryRun, text('fieldManager', 'Qy4HdaTW'), fieldValidation];
const patchParameters: readonly Parameter[] = [dryRun, text('fieldManager', '7c6nTn1T'), fieldValidation, flag('force', 'tOGGb0Yi')];
const deleteParameters: readonly Parameter[] = [
  dryRun, count('gracePeriodSeconds', '-K5HaBOS'), flag('ignoreStoreReadErrorWithClusterBreakingPotential', 'QbNkfIqj'),
  flag('orphanDependents', 'uRB25kX5'), text('propagationPolicy', '6jk3prlO'),
];
const parameterSets: Readonly<Record<ParameterSet, readonly Parameter[]>> = {
  list: listParameters, get: [resourceVersion], write: writeParameters, patch: patchParameters, delete: deleteParameters, none: [],
};

/** Options of connections, by the kind that holds them. */
const connectParameters: Readonly<Record<string, readonly Parameter[]>> = {
  PodExecOptions: [
    text('command', 'Py3eQybp'), text('container', 'i5dOmRiM'), flag('stderr', 'W_1TNlWc'), flag('stdin', 'PSzNhyUC'), flag('stdout', '-EZLRwV1'),
    flag('tty', 's0flW37O'),
  ],
  PodAttachOptions: [
    text('container', '_Q-EJ3nR'), flag('stderr', '26jJhFUR'), flag('stdin', 'sEFnN3IS'), flag('stdout', '005YMKE6'), flag('tty', 'g7MlET_l'),
  ],
  PodPortForwardOptions: [count('ports', '91KROJmm')], NodeProxyOptions: [text('path', 'rFDtV0x9')], PodProxyOptions: [text('path', 'oPbzgLUj')],
  ServiceProxyOptions: [text('path', 'QCf0eosM')],
};
const logParameters: readonly Parameter[] = [
  text('container', '1GeXxFDC'), flag('follow', '9OIXh_2R'), flag('insecureSkipTLSVerifyBackend', 'gM00jVbe'), count('limitBytes', 'zwd1RXuc'),
  flag('previous', '1jxDPu3y'), count('sinceSeconds', 'vE2NLdnP'), text('stream', 'l-48cgXv'), count('tailLines', '9xQLWHMV'),
  flag('timestamps', 'c17fW1w_'),
];
const collectionDeleteParameters: readonly Parameter[] = [
  ...deleteParameters, ...listParameters.filter(({ name }) => !['allowWatchBookmarks', 'watch'].includes(name)),
];
const prettyParameter = text('pretty', 'tJGM1-ng');
const pathMarks: Readonly<Record<string, string>> = { namespace: 'vgWSWtn3', path: 'z6Ciiujn' };

/** Parameters of the method itself, without those of the path. */
function queryParameters({ parameters, action, kind, path, body }: Operation): readonly Parameter[] {
  if (action === 'deletecollection') return body === undefined ? listParameters : collectionDeleteParameters;
  if (action === 'connect') return connectParameters[kind?.kind ?? ''] ?? [];
  return path.endsWith('/log') ? logParameters : parameterSets[parameters];
}

const connectionPath = /\/(?:attach|exec|portforward|proxy)(?:\/|$)/;

/** Parameters that the path itself gives to all its methods. */
function pathParameters(path: string): Parameter[] {
  const names = [...path.matchAll(/\{([a-z]+)\}/g)].map(([, name]) => name as string);
  const inPath = names.map((name): Parameter => ({ name, in: 'path', type: 'string', ...(pathMarks[name] && { mark: pathMarks[name] }) }));
  return path.endsWith('/') || connectionPath.test(path) ? inPath : [...inPath, prettyParameter];
}

/** By name, then by place. */
const inOrder = (parameters: readonly Parameter[]): Parameter[] =>
  [...parameters].sort((a, b) => (a.name === b.name ? (a.in < b.in ? -1 : 1) : a.name < b.name ? -1 : 1));

/** Where the parameters of a path stand: those that all its operations have with the path itself, the others with their operation. */
export interface PlacedParameters {
  readonly shared: readonly Parameter[];
  readonly own: ReadonlyMap<Operation, readonly Parameter[]>;
}

/** Places the parameters of a path's operations. */
export function placeParameters(path: string, operations: readonly Operation[]): PlacedParameters {
  const all = operations.map((operation) => queryParameters(operation));
  const last = all.at(-1) ?? [];
  const common = last.filter(({ name }) => all.every((parameters) => parameters.some((parameter) => parameter.name === name)));
  const names = new Set(common.map(({ name }) => name));
  const own = operations.map((operation, index) => [operation, inOrder((all[index] ?? []).filter(({ name }) => !names.has(name)))] as const);
  return { shared: inOrder([...pathParameters(path), ...common]), own: new Map(own) };
}
