// What the expressions are about: a schema that has every type, with bounds and without, and values of it.

type Json = Readonly<Record<string, unknown>>;

const text = (maxLength?: number): Json => ({ type: 'string', ...(maxLength !== undefined && { maxLength }) });
const int: Json = { type: 'integer' };
const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more });
const listOf = (items: Json, more: Json = {}): Json => ({ type: 'array', items, ...more });
const mapOf = (additionalProperties: Json, more: Json = {}): Json => ({ type: 'object', additionalProperties, ...more });

/** The schema of `self`. */
export const SCHEMA: Json = object({
  apiVersion: text(), kind: text(), metadata: { type: 'object' },
  name: text(10), text: text(), mode: { ...text(), enum: ['one', 'three'] }, n: int, small: { ...int, format: 'int32' }, d: { type: 'number' },
  flag: { type: 'boolean' }, raw: { ...text(40), format: 'byte' }, when: { ...text(), format: 'date-time' }, day: { ...text(), format: 'date' },
  span: { ...text(), format: 'duration' }, port: { 'x-kubernetes-int-or-string': true }, amount: { 'x-kubernetes-int-or-string': true },
  maybe: { ...text(20), nullable: true }, names: listOf(text(8), { maxItems: 5 }), texts: listOf(text()), nums: listOf(int), floats: listOf({ type: 'number' }),
  flags: listOf({ type: 'boolean' }, { maxItems: 3 }), times: listOf({ ...text(), format: 'date-time' }), tags: listOf(text(12), { maxItems: 8,
    'x-kubernetes-list-type': 'set' }),
  keyed: listOf(object({ key: text(6), value: int }, { required: ['key'] }), { maxItems: 6, 'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['key'] }),
  grid: listOf(listOf(int, { maxItems: 4 }), { maxItems: 4 }), labels: mapOf(text(16), { maxProperties: 4 }), counts: mapOf(int), lists: mapOf(listOf(text())),
  parts: mapOf(object({ size: int, title: text() })), inner: object({ a: int, b: text(5), deep: object({ c: listOf(text(3)), e: { type: 'boolean' } }) }),
  'a-b': int, in: int, namespace: text(4), 'x.y': text(), 'under__score': int, missing: text(), gone: object({ a: int }),
  open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: int } },
  pod: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: object({ host: text() }) } },
});

/** Values of the schema: a full one, a sparse one, one of odd values. */
export const VALUES: readonly Json[] = [
  {
    apiVersion: 'a.example/v1', kind: 'Thing', metadata: { name: 'thing' },
    name: 'anna', text: 'The quick brown fox', mode: 'one', n: 7, small: -3, d: 2.5, flag: true, raw: 'aGVsbG8=', when: '2024-02-29T12:34:56.789Z',
    day: '2023-06-15', span: '1h30m', port: 8080, amount: '1500m', maybe: null, names: ['x', 'yy', 'zzz'], texts: ['alpha', 'beta', 'gamma', 'beta'],
    nums: [3, 1, 2, 3], floats: [1.5, -0.25, 3], flags: [true, false], times: ['2024-01-01T00:00:00Z', '2023-01-01T00:00:00+02:00'], tags: ['red', 'blue'],
    keyed: [{ key: 'k1', value: 1 }, { key: 'k2', value: 2 }], grid: [[1, 2], [3], []], labels: { app: 'web', tier: 'front' }, counts: { a: 1, b: 2 },
    lists: { x: ['p', 'q'] }, parts: { left: { size: 3, title: 'L' }, right: { size: 4, title: 'R' } },
    inner: { a: 5, b: 'bee', deep: { c: ['i', 'j'], e: true } }, 'a-b': 11, in: 12, namespace: 'ns', 'x.y': 'xy', under__score: 13,
    open: { known: 1, unknown: 2 }, pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { host: 'h' } },
  },
  { apiVersion: 'a.example/v1', kind: 'Thing', metadata: { name: 'sparse' }, name: '', n: 0, names: [], labels: {}, inner: {}, keyed: [], flag: false },
  {
    apiVersion: 'a.example/v1', kind: 'Thing', metadata: {}, name: 'żółw', text: 'línea\nuno "two" 😀\t', n: 9007199254740993n, small: 2147483647, d: 1e21,
    flag: true, raw: '/w==', when: '1969-12-31T23:59:59.000000001Z', day: '0001-01-01', span: '-1.5s', port: 'http', amount: '0.1', maybe: 'set',
    names: ['10.0.0.1', '::1', '1.2.3'], texts: ['', 'ÄÖ', '%s %d', 'a/b?c=d'], nums: [-1, 0, 9223372036854775807n], floats: [0, 1e-7, 123456789.125],
    flags: [], times: [], tags: ['b', 'a', 'c'], keyed: [{ key: 'z', value: 26 }, { key: 'y' }], grid: [[]], labels: { 'a.b/c': 'd', '': 'empty' },
    counts: { '1': 1, z: -5 }, lists: {}, parts: {}, inner: { b: 'é', deep: {} }, 'a-b': -1, in: 0, namespace: '', 'x.y': '', under__score: 1,
    open: {}, pod: { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: {} },
  },
];

/** Fields of `self` by type, as expressions write them. */
export const FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['string', ['self.name', 'self.text', 'self.mode', 'self.inner.b', 'self.__namespace__', 'self.x__dot__y', 'self.missing', 'self.metadata.name', 'self.kind',
    'self.maybe', 'self.pod.spec.host', 'self.keyed[0].key', 'self.labels.app', "self.labels['tier']", 'self.names[1]', 'self.parts.left.title',
    'self.namespace']],
  ['int', ['self.n', 'self.small', 'self.inner.a', 'self.a__dash__b', 'self.__in__', 'self.under__underscores__score', 'self.keyed[1].value',
    'self.counts.a', 'self.nums[0]', 'self.grid[0][1]', 'self.parts.right.size', 'self.open.known', 'self.gone.a']],
  ['double', ['self.d', 'self.floats[1]']], ['bool', ['self.flag', 'self.inner.deep.e', 'self.flags[0]']], ['bytes', ['self.raw']],
  ['timestamp', ['self.when', 'self.day', 'self.times[0]']], ['duration', ['self.span']],
  ['dyn', ['self.port', 'self.amount', 'any', 'any.n', 'any.name', 'any.labels', 'any.names', 'any.d', 'any.nothing', 'dyn(self.n)', 'dyn(self.names)']],
  ['list(string)', ['self.names', 'self.texts', 'self.tags', 'self.lists.x', 'self.inner.deep.c']], ['list(int)', ['self.nums', 'self.grid[0]']],
  ['list(double)', ['self.floats']], ['list(bool)', ['self.flags']], ['list(timestamp)', ['self.times']], ['list(list(int))', ['self.grid']],
  ['list(object)', ['self.keyed']], ['object', ['self.keyed[0]', 'self.keyed[1]']],
  ['map(string)', ['self.labels']], ['map(int)', ['self.counts']], ['map(list(string))', ['self.lists']],
]);
