// A server is called as kube-apiserver on its machine: the name below is what 1.36.3 takes on a machine named `vm`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameServer } from './server-identity.ts';

test('nameServer gives kube-apiserver\'s name for a machine', () => {
  assert.equal(nameServer('vm'), 'apiserver-wlv32tlttr4jl3gtroqexyxapa');
  assert.match(nameServer(), /^apiserver-[a-z2-7]{26}$/);
});
