// The rules of the house as functions from one file to complaints. STYLE and ARCHITECTURE say why; this says what, exactly.
import { type Source, findRoom } from './sources.ts';

/** Looks at one file; each complaint names the line where there is one. */
export type Rule = (source: Source) => string[];

const LEFT = ['apimachinery', 'base'];
const RIGHT = ['storage', 'base'];
const BELOW_RESOURCES = ['registry', 'codec', 'cache', ...LEFT, ...RIGHT];
const BELOW_ENDPOINTS = [...BELOW_RESOURCES, 'auth', 'admission'];
const EVERYTHING = [...BELOW_ENDPOINTS, 'resources', 'crd', 'endpoints', 'controllers', 'subresources', 'server', 'grpc'];

/** Which rooms a room may import from; '' is the root: only the program itself leads to testing, and nothing but tests to test-support. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  apimachinery: ['base'],
  codec: LEFT,
  grpc: ['base'],
  storage: ['base', 'grpc'],
  cache: RIGHT,
  registry: ['codec', 'cache', ...LEFT, ...RIGHT],
  resources: BELOW_RESOURCES,
  crd: BELOW_RESOURCES,
  auth: BELOW_RESOURCES,
  admission: BELOW_RESOURCES,
  endpoints: BELOW_ENDPOINTS,
  controllers: BELOW_ENDPOINTS,
  subresources: [...BELOW_ENDPOINTS, 'endpoints'],
  kubeconfig: ['base', 'codec'],
  server: [...EVERYTHING, 'kubeconfig'],
  client: [...EVERYTHING, 'kubeconfig'],
  testing: [...EVERYTHING, 'client', 'kubeconfig'],
  'test-support': EVERYTHING,
  '': [...EVERYTHING, 'client', 'kubeconfig', 'testing'],
  // The console is another program: it meets the server over HTTP alone, and has its engine for expressions.
  'console/cel': ['apimachinery'],
  'console/model': [],
  'console/editor': ['console/model'],
  'console/plots': [],
  'console/terminal': [],
  'console/api': ['console/model'],
  'console/ui': ['console/model'],
  'console/views': ['console/model', 'console/api', 'console/ui', 'console/cel', 'console/editor', 'console/plots', 'console/terminal'],
  console: ['console/ui', 'console/views'],
};

/** Packages and `node:` modules, and the folders that may import them. Everything is allowed to server, testing and the root. */
const OUTSIDE: readonly { readonly module: RegExp; readonly folder: RegExp }[] = [
  { module: /./, folder: /^src\/((server|client|testing|test-support)\/|[^/]+$)/ },
  { module: /^(node:.*|lmdb)$/, folder: /^src\/storage\/embedded\// },
  { module: /^ws$/, folder: /^src\/server\/http\// },
  { module: /^re2js$/, folder: /^src\/apimachinery\/(schema|cel)\// },
  { module: /^node:/, folder: /^src\/(grpc|kubeconfig|storage\/etcd)\// },
  { module: /^(node:.*|pg)$/, folder: /^src\/storage\/postgres\// },
  { module: /^yaml$/, folder: /^src\/codec\// },
  { module: /^(node:crypto|jose)$/, folder: /^src\/auth\// },
  { module: /^preact(\/hooks)?$/, folder: /^console\/(ui\/|views\/|[^/]+$)/ },
  { module: /^(@codemirror\/[a-z-]+|@lezer\/highlight|yaml)$/, folder: /^console\/editor\// },
  { module: /^@xterm\/(xterm(\/css\/xterm\.css)?|addon-fit)$/, folder: /^console\/(terminal\/|main\.tsx$)/ },
  { module: /^uplot(\/dist\/uPlot\.min\.css)?$/, folder: /^console\/(plots\/|main\.tsx$)/ },
];

/**
 * Doors beside a room's index.ts: the durable Store comes with its native library, `pintle run` is no part of `pintle/testing`, and tests ask for
 * waits, certificates and the contract of Stores without the rest of their rooms.
 */
const SIDE_DOORS = [
  'src/storage/embedded/index.ts', 'src/storage/etcd/cluster.suite.ts', 'src/storage/postgres/server.suite.ts', 'src/storage/store.suite.ts',
  'src/server/testing.ts', 'src/server/tls/certificates.ts', 'src/test-support/steps.ts', 'src/test-support/wait.ts', 'src/testing/program/programs.ts',
];

/** Rooms are entered by their door, and only along the arrows. */
export const checkArrows: Rule = ({ path, room, isTest, imports }) => {
  if (room === undefined) return [];
  const allowed = ARROWS[room];
  if (allowed === undefined) return [`${path}: the room ${room} is not in the table of arrows`];
  return imports.flatMap(({ target }) => {
    const other = target === undefined || !/\.tsx?$/.test(target) ? undefined : findRoom(target);
    if (target === undefined || other === undefined || other === room) return [];
    if (!isTest && !allowed.includes(other)) return [`${path}: ${room} may not import ${target}`];
    const door = `${other.startsWith('console') ? '' : 'src/'}${other}/index.ts`;
    return target === door || SIDE_DOORS.includes(target) ? [] : [`${path}: enters ${other} beside its door (${target})`];
  });
};

/** Packages and `node:` modules are used only where the table allows it. */
export const checkOutside: Rule = ({ path, isTest, imports }) => {
  if (isTest) return [];
  const outside = imports.filter(({ target }) => target === undefined);
  const bad = outside.filter(({ specifier }) => !OUTSIDE.some(({ module, folder }) => module.test(specifier) && folder.test(path)));
  return bad.map(({ specifier }) => `${path}: may not import ${specifier}`);
};

/** Time and chance come in as Clock and Random; in the console only its model is without the browser's. */
export const checkTimeAndChance: Rule = ({ path, isTest, lines }) => {
  if (isTest || /^src\/base\/(time\/clock|random)\.ts$|^console\/(?!model\/)/.test(path)) return [];
  return complain(path, lines, /\b(Date\.now\(|new Date\(\)|Math\.random\(|setTimeout\(|setInterval\(|performance\.now\(|randomUUID\(|getRandomValues\()/);
};

/** What a room offers is named, name by name. */
export const checkExports: Rule = ({ path, lines }) => complain(path, lines, /^export (\*|default\b)/);

/** A file opens with what it holds. */
export const checkOpening: Rule = ({ path, lines }) => {
  const first = lines[0]?.startsWith('#!') === true ? lines[1] : lines[0];
  return /^\/[/*]/.test(first ?? '') ? [] : [`${path}: does not open with a comment`];
};

const MEASURED_TIME = /performance\.now\(|Date\.now\(\) -|- Date\.now\(\)|hrtime|cpuUsage|\brecordLongestTurn\b/;
const LONG_LITERAL = /'[^']{80,}'|"[^"]{80,}"|`[^`]{80,}`|\/\^\S{80,}\$\//g;

/** One long literal (a message, a pattern, a sample) is not broken for the sake of width. */
function isTooWide(line: string): boolean {
  return line.length > 160 && line.replace(LONG_LITERAL, '').length > 120;
}

/** File, line and function sizes; a suite is one function full of tests and may be long. */
export const checkSizes: Rule = ({ path, lines, isData, isTest }) => {
  if (isData) return [];
  const long = lines.length > 501 ? [`${path}: ${lines.length - 1} lines`] : [];
  const wide = lines.flatMap((line, i) => (isTooWide(line) ? [`${path}:${i + 1}: ${line.length} columns`] : []));
  return [...long, ...wide, ...(isTest ? [] : findLongFunctions(path, lines))];
};

const FUNCTION_START = /^( {0,2})(?:export )?(?:(?:async )?function\b|const \w+.*=>.*\{$|(?:(?:static|async|override|get|set|\*) ?)*[#\w]+\(.*\{$)/;
const NOT_A_FUNCTION = /^ *(?:if|for|while|switch|test|describe|it)\b/;

/** By indentation: a function at the top or in a class ends at the next line that closes a brace at its own depth. */
function findLongFunctions(path: string, lines: readonly string[]): string[] {
  return lines.flatMap((line, start) => {
    const indent = FUNCTION_START.exec(line)?.[1];
    if (indent === undefined || NOT_A_FUNCTION.test(line)) return [];
    const length = lines.slice(start + 1).findIndex((next) => next.startsWith(`${indent}}`)) + 2;
    return length > 70 ? [`${path}:${start + 1}: a function of ${length} lines`] : [];
  });
}

const LEFTOVERS = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|')})\\b`);
const MACHINE = new RegExp(`(^|[^\\w.])/(${['wo' + 'rk', 'ro' + 'ot'].join('|')})/\\w|\\b(${['artifac' + 'tory', 'verdac' + 'cio'].join('|')})\\b`);

const CONSTANT = /^(?:export )?const (\w+)(?:: [^=]+)? = ?(.*)$/;
/** How numbers, texts and flags begin, and how everything else does; `undefined` (a name, a call in parentheses) may be either. */
const SCALAR = /^(?:-?\d|['"`]|(?:true|false)\b)/;
const COMPOUND = /^(?:[[{/]|new |async |Object\.|\w+\()/;

/** Numbers, texts and flags of a module are UPPER_CASE; functions, tables, patterns and instances are camelCase. */
export const checkConstants: Rule = ({ path, lines, isTest, isData }) => {
  if (isTest || isData) return [];
  return lines.flatMap((line, i) => {
    const [, name, begun] = CONSTANT.exec(line) ?? [];
    if (name === undefined || begun === undefined) return [];
    const value = begun === '' ? (lines[i + 1] ?? '').trim() : begun;
    const isUpper = /^[A-Z][A-Z0-9_]*$/.test(name);
    const isWrong = isUpper ? COMPOUND.test(value) : SCALAR.test(value);
    return isWrong ? [`${path}:${i + 1}: ${name} is ${isUpper ? 'no number, text or flag: camelCase' : 'a number, text or flag: UPPER_CASE'}`] : [];
  });
};

/** Tests wait for what must hold and count work (`test-support/steps.ts`): a measured time says how busy the machine is. */
export const checkMeasuredTime: Rule = ({ path, lines }) => (/\.(test|suite)\.ts$/.test(path) ? complain(path, lines, MEASURED_TIME) : []);

/** The variables of a module, as `path name`: state that outlives a call. */
export function findModuleState(sources: readonly Source[]): string[] {
  return sources.filter(({ path, isTest }) => path.startsWith('src/') && !isTest).flatMap(({ path, lines }) =>
    lines.flatMap((line) => /^(?:export )?let (\w+)/.exec(line)?.[1] ?? []).map((name) => `${path} ${name}`));
}

/** No notes to ourselves. */
export const checkLeftovers: Rule = ({ path, lines }) => complain(path, lines, LEFTOVERS);

/** No paths of a machine, no hosts of a package registry other than the public one. */
export const checkMachines: Rule = ({ path, lines }) => [
  ...complain(path, lines, MACHINE),
  ...complain(path, lines, /"resolved": "https?:\/\/(?!registry\.npmjs\.org\/)/),
];

function complain(path: string, lines: readonly string[], pattern: RegExp): string[] {
  return lines.flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim().slice(0, 100)}`] : []));
}
