// Negotiation against what the reference answered to the same headers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MediaTypeName, type Transform, matchContentType, matchesRoute, mediaTypeNames, negotiate, parseAccept, parseContentType } from './media-type.ts';

const builtIn: MediaTypeName[] = ['json', 'yaml', 'protobuf'];
const JSONT = 'application/json';
const YAML = 'application/yaml';
const PROTO = 'application/vnd.kubernetes.protobuf';
const as = (kind: string, version = 'v1', base = JSONT, group = 'meta.k8s.io'): string => `${base};as=${kind};v=${version};g=${group}`;
const allowsTable = (type: MediaTypeName, to: Transform | undefined): boolean =>
  to === undefined || (to.group === 'meta.k8s.io' && ['v1', 'v1beta1'].includes(to.version) && kindsIn(type).includes(to.kind));
const kindsIn = (type: MediaTypeName): string[] => (type === 'protobuf' ? ['PartialObjectMetadata'] : ['PartialObjectMetadata', 'Table']);

/** Both layers, as a route of a built-in kind has them. */
function answer(accept: string | undefined): string {
  if (!matchesRoute(accept, Object.values(mediaTypeNames).filter((name) => name !== mediaTypeNames.cbor))) return 'no route';
  return negotiate(accept, builtIn, allowsTable)?.type ?? 'no serializer';
}

test('negotiate answers each Accept header with the media type of the reference', () => {
  const cases: [string | undefined, string][] = [
    [undefined, 'json'], ['', 'json'], ['*/*', 'json'], ['text/html,application/xhtml+xml,*/*;q=0.8', 'json'],
    ['application/*', 'no route'], ['application/*,*/*;q=0.1', 'json'],
    [`${JSONT};charset=utf-8`, 'json'], [`${JSONT};stream=watch`, 'json'], [`${JSONT};foo=bar`, 'json'], [`${JSONT}; q=0`, 'json'],
    [`${YAML};charset=utf-8`, 'yaml'], [`${PROTO};stream=watch`, 'protobuf'],
    [`${PROTO},${JSONT}`, 'protobuf'], [`${JSONT},${PROTO}`, 'json'], [`${YAML};q=0.1,${JSONT};q=0.9`, 'json'], [`${JSONT};q=0.1,${YAML}`, 'yaml'],
    [`text/html,${YAML}`, 'yaml'], [`application/xml;q=0.9,${PROTO};q=0.2`, 'protobuf'], [`*/*;q=0.1,${YAML};q=0.2`, 'yaml'], [`${JSONT},*/*;q=0.9,${YAML}`,
    'json'],
    ['text/html', 'no route'], ['text/*', 'no route'], ['application/xml', 'no route'], ['application/cbor', 'no route'], ['json', 'no route'],
    [as('Table'), 'json'], [as('Table', 'v1', YAML), 'yaml'], [as('Table', 'v1', PROTO), 'no serializer'],
    [`${as('Table', 'v1', PROTO)},${as('Table', 'v1', YAML)}`, 'yaml'], [as('Table', 'v2'), 'no serializer'], [`${JSONT};as=Table`, 'no serializer'],
    [`${JSONT};as=Table;v=v1`, 'no serializer'], [as('Table', 'v1', JSONT, 'example.com'), 'no serializer'], [as('table'), 'no serializer'],
    [as('Table', 'v1', 'text/html'), 'no route'], [`${as('Table', 'v9')},${JSONT}`, 'json'], [as('PartialObjectMetadata', 'v1', PROTO), 'protobuf'],
  ];
  for (const [accept, expected] of cases) assert.equal(answer(accept), expected, String(accept));
});

test('negotiate hands out the parameters of the clause that won', () => {
  const table = { kind: 'Table', group: 'meta.k8s.io', version: 'v1beta1' };
  assert.deepEqual(negotiate(`${as('Table', 'v9')},${as('Table', 'v1beta1')};pretty=1`, builtIn, allowsTable), { type: 'json', transform: table,
    pretty: true });
  assert.deepEqual(negotiate(`${JSONT};stream=watch;profile=nopeer`, builtIn), { type: 'json', stream: 'watch', profile: 'nopeer' });
  assert.equal(negotiate(`${JSONT};stream=other`, builtIn), undefined);
  assert.equal(negotiate(PROTO, ['json', 'yaml']), undefined);
});

test('parseAccept orders by quality, then concrete before wildcard, then as listed, and drops what is no media type', () => {
  const order = parseAccept('*/*, a/b;q=0.5, nonsense, x/*, c/d, e/f/g, *').map((c) => `${c.type}/${c.subtype}`);
  assert.deepEqual(order, ['c/d', 'x/*', '*/*', '*/*', 'a/b']);
});

test('matchContentType reads the type of a body as the reference does', () => {
  const cases: [string | undefined, MediaTypeName | undefined][] = [
    [undefined, 'json'], ['', 'json'], ['application/json; charset=utf-8', 'json'], ['application/json;foo=bar', 'json'], ['APPLICATION/JSON', 'json'],
    [YAML, 'yaml'], [PROTO, 'protobuf'], ['*/*', undefined], ['text/plain', undefined], ['application/xml', undefined], ['text/yaml', undefined],
    ['application/x-yaml', undefined], ['application/cbor', undefined], ['application/merge-patch+json', undefined], ['json', undefined],
  ];
  for (const [header, expected] of cases) assert.equal(matchContentType(header, builtIn), expected, String(header));
  assert.equal(parseContentType('Application/Apply-Patch+YAML; charset=utf-8'), 'application/apply-patch+yaml');
  assert.equal(parseContentType('a b/c'), '');
});

test('parameters of a clause are bounded', () => {
  const accept = `application/json${';a=b'.repeat(100)};pretty=1`;
  assert.deepEqual(negotiate(accept, ['json']), { type: 'json' });
  assert.equal(negotiate('application/json;a=b;pretty=1', ['json'])?.pretty, true);
});
