// Documents of other servers: the two forms of discovery.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { convertLegacyResources, readAggregatedResources } from './remote-documents.ts';

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
