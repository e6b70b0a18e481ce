// Request lines and their RequestInfo.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseRequestInfo } from './request-info.ts';

function info(method: string, target: string) {
  const url = new URL(target, 'http://test');
  return parseRequestInfo({ method, path: url.pathname, query: url.searchParams });
}

const rows: [string, string, Partial<ReturnType<typeof parseRequestInfo>>][] = [
  ['GET', '/api/v1/namespaces/ns/pods', { verb: 'list', namespace: 'ns', resource: 'pods', name: '' }],
  ['GET', '/api/v1/namespaces/ns/pods/', { verb: 'list', resource: 'pods', name: '' }],
  ['GET', '/api/v1/namespaces/ns/pods/a', { verb: 'get', name: 'a', subresource: '' }],
  ['HEAD', '/api/v1/namespaces/ns/pods/a', { verb: 'get' }],
  ['GET', '/api/v1/pods?watch=true', { verb: 'watch', namespace: '' }],
  ['GET', '/api/v1/pods?watch=', { verb: 'watch' }],
  ['GET', '/api/v1/pods?watch=0', { verb: 'list' }],
  ['GET', '/api/v1/pods?watch=False', { verb: 'list' }],
  ['DELETE', '/apis/apps/v1/namespaces/ns/deployments', { verb: 'deletecollection', group: 'apps', version: 'v1', prefix: 'apis' }],
  ['DELETE', '/apis/apps/v1/namespaces/ns/deployments/d', { verb: 'delete', name: 'd' }],
  ['PUT', '/apis/apps/v1/namespaces/ns/deployments/d/scale', { verb: 'update', name: 'd', subresource: 'scale' }],
  ['PATCH', '/api/v1/nodes/n/status', { verb: 'patch', resource: 'nodes', name: 'n', subresource: 'status', namespace: '' }],
  ['POST', '/api/v1/namespaces', { verb: 'create', resource: 'namespaces', namespace: '' }],
  ['GET', '/api/v1/namespaces/ns', { verb: 'get', resource: 'namespaces', namespace: 'ns', name: 'ns' }],
  ['PUT', '/api/v1/namespaces/ns/finalize', { verb: 'update', resource: 'namespaces', name: 'ns', subresource: 'finalize' }],
  ['GET', '/api/v1/watch/namespaces/ns/pods/a', { verb: 'watch', resource: 'pods', namespace: 'ns', name: 'a' }],
  ['GET', '/api/v1/watch/pods?watch=false', { verb: 'watch', resource: 'pods' }],
  ['GET', '/api/v1/pods?fieldSelector=metadata.name%3Da', { verb: 'list', name: 'a' }],
  ['GET', '/api/v1/pods?fieldSelector=metadata.name!%3Da', { verb: 'list', name: '' }],
  ['GET', '/api/v1/pods?fieldSelector=metadata.name%3Da/b', { verb: 'list', name: '' }],
  ['GET', '/api/v1/watch/pods?fieldSelector=metadata.name%3Da', { verb: 'watch', name: '' }],
  ['DELETE', '/api/v1/namespaces/ns/pods?fieldSelector=metadata.name%3Da', { verb: 'deletecollection', name: '' }],
  ['GET', '/api/v1', { isResource: false, verb: 'get' }],
  ['POST', '/healthz', { isResource: false, verb: 'post' }],
  ['GET', '/apis/apps/v1', { isResource: false }],
];

for (const [method, target, expected] of rows) {
  test(`parseRequestInfo reads ${method} ${target}`, () => {
    const found = info(method, target);
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, found[key as keyof typeof found]])), expected);
  });
}

test('parseRequestInfo never fails, and ignores slashes at the ends of a path', () => {
  const words = ['api', 'apis', 'v1', 'apps', 'namespaces', 'watch', 'proxy', 'pods', 'status', 'finalize', 'ns', ''];
  fc.assert(fc.property(fc.constantFrom('GET', 'DELETE', 'POST', 'LINK'), fc.array(fc.constantFrom(...words), { maxLength: 7 }), (method, segments) => {
    const path = `/${segments.join('/')}`;
    const query = new URLSearchParams();
    assert.deepEqual(parseRequestInfo({ method, path, query }), { ...parseRequestInfo({ method, path: `/${path}/`, query }), path });
  }), { numRuns: 1000 });
});
