// OpenAPI v2 of other servers, merged into this server's. Expectations follow the merge of kube-openapi.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finishSteps } from '../../base/index.ts';
import type { RemoteVersion } from './remote-apis.ts';
import { mergeSwagger as mergeSteps } from './remote-swagger.ts';

const GVK = 'x-kubernetes-group-version-kind';
const versionOf = (openApiV2: unknown, version = 'v1'): RemoteVersion => ({ group: 'g', version, openApiV2 }) as unknown as RemoteVersion;
const refer = (name: string, section = 'definitions'): object => ({ $ref: `#/${section}/${name}` });

const mergeSwagger = (...input: Parameters<typeof mergeSteps>): Record<string, unknown> => finishSteps(mergeSteps(...input));

describe('mergeSwagger', () => {
  it('adds free paths below the version and renames definitions that differ', () => {
    const other = {
      paths: { '/apis/g/v1/a': refer('A'), '/apis/g/v1/ours': 1, '/apis/g/v2/b': {}, '/outside': {} },
      definitions: { A: { type: 'string' }, B: { type: 'object' } },
    };
    const ours = { paths: { '/apis/g/v1/ours': 0 }, definitions: { A: { type: 'integer' }, B: { type: 'object' } } };
    const merged = mergeSwagger(ours, [versionOf(other), versionOf(other)]);
    assert.deepEqual(merged, {
      paths: { '/apis/g/v1/ours': 0, '/apis/g/v1/a': refer('A_v2') },
      definitions: { A: { type: 'integer' }, B: { type: 'object' }, A_v2: { type: 'string' } },
    });
  });

  it('leaves out definitions that only other paths use, and keeps those that none used', () => {
    const other = {
      paths: { '/apis/g/v1/a': { s: refer('A') }, '/apis/g/v2/b': refer('B') },
      definitions: { A: { items: refer('Inner') }, B: { items: [refer('Inner'), refer('OfB')] }, Inner: {}, OfB: { items: refer('B') }, Unused: {} },
    };
    assert.deepEqual(Object.keys(mergeSwagger({ paths: {} }, [versionOf(other)])['definitions'] as object), ['A', 'Inner', 'Unused']);
    assert.deepEqual(mergeSwagger({ paths: {} }, [versionOf({ ...other, paths: { '/elsewhere': refer('A') } })]), { paths: {} });
  });

  it('takes a definition for the same whose prose, kinds and order of keys alone differ, and unites the kinds', () => {
    const [a, b] = [{ group: 'a', version: 'v1', kind: 'K' }, { group: 'b', version: 'v1', kind: 'K' }];
    const property = { description: { type: 'string', description: 'A.' } };
    const ours = { type: 'object', description: 'Ours.', properties: property, [GVK]: [b] };
    const other = {
      paths: { '/apis/g/v1/a': refer('K') },
      definitions: { K: { properties: { description: { description: 'Another.', type: 'string' } }, type: 'object', [GVK]: [a, b] } },
    };
    const merged = mergeSwagger({ paths: {}, definitions: { K: ours } }, [versionOf(other)]);
    assert.deepEqual(merged, { paths: { '/apis/g/v1/a': refer('K') }, definitions: { K: { ...ours, [GVK]: [a, b] } } });
    const { description: _, ...without } = other.definitions.K.properties;
    const differing = { ...other, definitions: { K: { type: 'object', properties: without } } };
    const names = mergeSwagger({ paths: {}, definitions: { K: ours } }, [versionOf(differing)])['definitions'];
    assert.deepEqual(Object.keys(names as object), ['K', 'K_v2']);
  });

  it('gives the same part the same name again, and none that either document has', () => {
    const other = (type: string, more = {}) => ({ paths: { [`/apis/g/${type}/a`]: refer('A') }, definitions: { A: { type }, ...more } });
    const documents = [other('string'), other('boolean', { A_v3: {} }), { ...other('string'), paths: { '/apis/g/more/a': refer('A') } }];
    const merged = mergeSwagger({ paths: {}, definitions: { A: { type: 'integer' } } },
      documents.map((document, at) => versionOf(document, ['string', 'boolean', 'more'][at])));
    assert.deepEqual(merged, {
      paths: { '/apis/g/string/a': refer('A_v2'), '/apis/g/boolean/a': refer('A_v4'), '/apis/g/more/a': refer('A_v2') },
      definitions: { A: { type: 'integer' }, A_v2: { type: 'string' }, A_v3: {}, A_v4: { type: 'boolean' } },
    });
  });

  it('adds shared parameters and renames those that differ', () => {
    const other = { paths: { '/apis/g/v1/a': { parameters: [refer('p', 'parameters'), refer('q', 'parameters')] } }, parameters: { p: 1, q: 2 } };
    assert.deepEqual(mergeSwagger({ paths: {}, parameters: { p: 0 } }, [versionOf(other)]), {
      paths: { '/apis/g/v1/a': { parameters: [refer('p_v2', 'parameters'), refer('q', 'parameters')] } }, parameters: { p: 0, p_v2: 1, q: 2 },
    });
  });

  it('ignores a document that is no object', () => {
    assert.deepEqual(mergeSwagger({ paths: {} }, [null, 'text', []].map((document) => versionOf(document))), { paths: {} });
  });
});
