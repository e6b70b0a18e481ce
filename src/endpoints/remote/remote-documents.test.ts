// Documents of other servers: the two forms of discovery, and OpenAPI v2 merged into this server's.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { convertLegacyResources, mergeSwagger, readAggregatedResources } from './remote-documents.ts';
import type { RemoteVersion } from './remote-apis.ts';

describe('discovery of other servers', () => {
  it('convertLegacyResources puts subresources below their resources', () => {
    const resources = convertLegacyResources({ resources: [
      { name: 'echoes', singularName: 'echo', namespaced: true, kind: 'Echo', verbs: ['get'], shortNames: ['ec'] },
      { name: 'echoes/status', namespaced: true, kind: 'Echo', verbs: ['patch'] },
    ] });
    const kind = { group: '', version: '', kind: 'Echo' };
    assert.deepEqual(resources, [{
      resource: 'echoes', responseKind: kind, scope: 'Namespaced', singularResource: 'echo', verbs: ['get'], shortNames: ['ec'],
      subresources: [{ subresource: 'status', responseKind: kind, verbs: ['patch'] }],
    }]);
    for (const wrong of [null, 'text', [], {}, { resources: 1 }]) assert.equal(convertLegacyResources(wrong), undefined);
  });

  it('readAggregatedResources gives every resource a kind', () => {
    const resources = [{ resource: 'a', verbs: ['get'], subresources: [{ subresource: 's' }] }];
    const list = { kind: 'APIGroupDiscoveryList', items: [{ metadata: { name: 'g' }, versions: [{ version: 'v1', resources }] }] };
    const responseKind = { group: '', version: '', kind: '' };
    assert.deepEqual(readAggregatedResources(list, { group: 'g', version: 'v1' }), [
      { resource: 'a', responseKind, verbs: ['get'], subresources: [{ subresource: 's', responseKind }] },
    ]);
  });

  it('readAggregatedResources finds none where a version is left out, and refuses what is no such list', () => {
    const list = { kind: 'APIGroupDiscoveryList', items: [{ metadata: { name: 'g' }, versions: [{ version: 'v1', resources: [{ resource: 'a' }] }] }] };
    assert.deepEqual(readAggregatedResources(list, { group: 'g', version: 'v1' }), [{ resource: 'a', responseKind: { group: '', version: '', kind: '' } }]);
    assert.deepEqual(readAggregatedResources(list, { group: 'g', version: 'v2' }), []);
    assert.equal(readAggregatedResources({ kind: 'APIGroupList' }, { group: 'g', version: 'v1' }), undefined);
  });
});

describe('mergeSwagger', () => {
  it('adds free paths below /apis/ and renames definitions that differ', () => {
    const other = {
      paths: { '/apis/g/v1/a': { $ref: '#/definitions/A' }, '/apis/ours': 1, '/outside': {} }, definitions: { A: { type: 'string' }, B: { type: 'object' } },
    };
    const version = { openApiV2: other } as unknown as RemoteVersion;
    const merged = mergeSwagger({ paths: { '/apis/ours': 0 }, definitions: { A: { type: 'integer' }, B: { type: 'object' } } }, [version, version]);
    assert.deepEqual(merged, {
      paths: { '/apis/ours': 0, '/apis/g/v1/a': { $ref: '#/definitions/A_v2' } },
      definitions: { A: { type: 'integer' }, B: { type: 'object' }, A_v2: { type: 'string' } },
    });
  });

  it('adds shared parameters and renames those that differ', () => {
    const other = { paths: { '/apis/g/v1/a': { parameters: [{ $ref: '#/parameters/p' }, { $ref: '#/parameters/q' }] } }, parameters: { p: 1, q: 2 } };
    const merged = mergeSwagger({ paths: {}, parameters: { p: 0 } }, [{ openApiV2: other } as unknown as RemoteVersion]);
    assert.deepEqual(merged, {
      paths: { '/apis/g/v1/a': { parameters: [{ $ref: '#/parameters/p_v2' }, { $ref: '#/parameters/q' }] } }, parameters: { p: 0, p_v2: 1, q: 2 },
    });
  });

  it('ignores a document that is no object', () => {
    const versions = [null, 'text', []].map((openApiV2) => ({ openApiV2 }) as unknown as RemoteVersion);
    assert.deepEqual(mergeSwagger({ paths: {} }, versions), { paths: {} });
  });
});
