// Where webhooks are reached, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkWebhookService, checkWebhookUrl } from './webhook-client.ts';

const say = (errors: readonly { field: string; message: string }[]): string[] => errors.map(({ field, message }) => `${field}: ${message}`);
const form = 'desired format: https://host[/path]';

test('checkWebhookService mixes up name and namespace as the reference does', () => {
  assert.deepEqual(say(checkWebhookService('s', { name: '', namespace: 'x', port: 443 })), ['s.namespace: Required value']);
  assert.deepEqual(say(checkWebhookService('s', { name: 'x', port: 443 })), ['s.name: Required value']);
});

test('checkWebhookService looks at every segment of a path', () => {
  const check = (path: string): string[] => say(checkWebhookService('s', { name: 'a', namespace: 'b', port: 443, path }));
  for (const path of ['', '/', '/a/b.c/', '/a']) assert.deepEqual(check(path), []);
  assert.deepEqual(check('//'), ['s.path: Invalid value: "//": segment[0] may not be empty']);
  assert.deepEqual(check('a'), ['s.path: Invalid value: "a": must start with a \'/\'', 's.path: Invalid value: "a": segment[0] may not be empty']);
});

test('checkWebhookUrl says what the reference says of a text that is no URL', () => {
  assert.deepEqual(say(checkWebhookUrl('u', 'https://example.com:8443/a/b')), []);
  assert.deepEqual(say(checkWebhookUrl('u', 'https://x/#a%20b')), ['u: Invalid value: "a b": fragments are not permitted in the URL']);
  assert.deepEqual(say(checkWebhookUrl('u', 'a:b:c')), [
    `u: Invalid value: "a": 'https' is the only allowed URL scheme; ${form}`, `u: Invalid value: "": host must be specified; ${form}`,
  ]);
  assert.deepEqual(say(checkWebhookUrl('u', 'https://u @x')), [
    `u: Required value: url must be a valid URL: parse "https://u @x": net/url: invalid userinfo; ${form}`,
  ]);
  assert.deepEqual(say(checkWebhookUrl('u', 'a\nb')), [
    `u: Required value: url must be a valid URL: parse "a\\nb": net/url: invalid control character in URL; ${form}`,
  ]);
});
