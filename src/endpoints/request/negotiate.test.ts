// Accept headers against what the reference answers to them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../../apimachinery/index.ts';
import type { Exchange } from '../exchange.ts';
import { checkAccept, checkStream, negotiate, type Offer, type Representation } from './negotiate.ts';
import { cborMedia, plainMedia } from './media.ts';

const offer: Offer = { protobuf: true, conversions: 'metadata and tables' };
const custom: Offer = { protobuf: false, conversions: 'metadata and tables' };
const pick = (accept: string | undefined, offered: Offer): Representation => negotiate(accept, offered, plainMedia);
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

test('negotiate picks a representation as the reference does', () => {
  assert.deepEqual(pick(undefined, offer), { form: 'json' });
  assert.deepEqual(pick('application/vnd.kubernetes.protobuf,application/json', offer), { form: 'protobuf' });
  assert.deepEqual(pick('application/vnd.kubernetes.protobuf,application/json', custom), { form: 'json' });
  assert.deepEqual(pick('application/json;q=0.1,application/yaml', offer), { form: 'yaml' });
  assert.deepEqual(pick(`${table},application/json`, offer), { form: 'json', conversion: { kind: 'Table', version: 'v1' } });
  assert.deepEqual(pick('application/json;as=Table;v=v9;g=meta.k8s.io,application/json', offer), { form: 'json' });
  assert.deepEqual(pick('application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', custom), {
    form: 'protobuf', conversion: { kind: 'PartialObjectMetadata', version: 'v1' },
  });
});

const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof StatusError);
    assert.equal(error.code, 406);
    return error.message;
  }
  return assert.fail('accepted');
};

test('negotiate refuses with the list of types, checkStream with that of streams', () => {
  const objects = 'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf';
  assert.equal(refusal(() => pick('application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io', offer)), objects);
  assert.equal(refusal(() => pick(table, { protobuf: true, conversions: 'metadata' })), objects);
  assert.equal(refusal(() => pick('application/vnd.kubernetes.protobuf', custom)), objects);
  assert.equal(refusal(() => checkStream(pick('application/yaml', offer), plainMedia)),
    'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch');
});

test('checkAccept refuses half wildcards with the representations of the route', () => {
  const exchange = (accept: string): Exchange => ({ headers: { accept } }) as unknown as Exchange;
  checkAccept(exchange('text/html, */*;q=0.1'), plainMedia.objectTypes);
  checkAccept(exchange('application/json;q=0'), plainMedia.objectTypes);
  assert.match(refusal(() => checkAccept(exchange('application/*'), plainMedia.collectionTypes)),
    /^406: Not Acceptable\n\nAvailable representations: .*;stream=watch$/);
});

test('negotiate offers CBOR where the server has it, as the last of its encodings', () => {
  assert.deepEqual(negotiate('application/json;q=0.9,application/cbor;q=1', custom, cborMedia), { form: 'cbor' });
  assert.deepEqual(negotiate('*/*', offer, cborMedia), { form: 'json' });
  assert.match(refusal(() => pick('application/cbor', offer)), /vnd\.kubernetes\.protobuf$/);
  assert.match(refusal(() => negotiate('text/html', offer, cborMedia)), /vnd\.kubernetes\.protobuf, application\/cbor$/);
  assert.match(refusal(() => checkStream({ form: 'yaml' }, cborMedia)), /stream=watch, application\/cbor-seq$/);
});
