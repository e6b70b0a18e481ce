// The place of the cursor in texts that are typed, and the schema behind it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OpenApiDocument, findField, findPlace, findSchema, typesOf } from './index.ts';

/** The place at the bar of a text, in short. */
function at(text: string): string | undefined {
  const offset = text.indexOf('|');
  const place = findPlace(text.replace('|', ''), offset);
  return place && `${place.kind} ${place.steps.join('.')} ${place.word} (${[...place.siblings].join()})`;
}

test('findPlace returns the object, the member or the value that is typed, and its siblings', () => {
  assert.equal(at('kind: A\nspec:\n  replicas: 2\n  sel|\n  paused: true\nstatus: {}\n'), 'key spec sel (replicas,paused)');
  assert.equal(at('spec:\n  containers:\n  - name: a\n    im|\n  - name: b\n'), 'key spec.containers.[] im (name)');
  assert.equal(at('spec:\n  containers:\n    - na|'), 'key spec.containers.[] na ()');
  assert.equal(at('a:\n  b:\n    c: 1\n  d: fa|'), 'value a.d fa (b)');
  assert.equal(at('a: 1\n---\nb:\n\n  # note\n  |'), 'key b  ()');
  assert.equal(at('|'), 'key   ()');
  assert.equal(at('a: {b|'), undefined);
});

test('findSchema follows references when they are read, also of schemas that contain themselves', () => {
  const ref = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${name}` }], default: {}, description: 'below' });
  const document: OpenApiDocument = {
    components: {
      schemas: {
        Tree: {
          type: 'object', properties: { tree: ref('Tree'), names: { type: 'array', items: { $ref: '#/components/schemas/Name' } } }, required: ['names'],
          'x-kubernetes-group-version-kind': [{ group: 'plants', version: 'v1', kind: 'Tree' }],
        },
        Name: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
      },
    },
  };
  const schema = findSchema(document, 'plants/v1', 'Tree');
  assert.deepEqual(typesOf(findField(schema, ['tree', 'tree', 'names', '[]']) ?? {}), ['string', 'integer']);
  assert.equal(findField(schema, ['tree'])?.description, 'below');
  assert.equal(findField(schema, ['constructor']), undefined);
  assert.equal(findSchema(document, 'v1', 'Tree'), undefined);
});
