// Changes of the program that signs tokens, as rows say them.
import { type TestSigner, makeTestKey } from '../../src/server/tokens/testing.ts';
import type { Json } from '../differential/case.ts';

/** Keys that were made, by their names: a name with a `!` behind it is of one that is not published. */
const made = new WeakMap<TestSigner, Map<string, TestSigner['signing']>>();

/** Sets members of the signer; keys are named, and `fails` names the methods that fail. */
export function changeSigner(signer: TestSigner, { keys, signing, fails, ...members }: Json): void {
  const known = made.get(signer) ?? new Map([[signer.signing.keyId, signer.signing]]);
  made.set(signer, known);
  const find = (name: string): TestSigner['signing'] => {
    const keyId = name.replace('!', '');
    const key = known.get(keyId) ?? makeTestKey(keyId, name.endsWith('!'));
    known.set(keyId, key);
    return key;
  };
  if (keys !== undefined) signer.keys = (keys as string[]).map(find);
  if (signing !== undefined) signer.signing = find(signing as string);
  signer.failures.clear();
  for (const name of (fails ?? []) as string[]) signer.failures.set(name, [7, 'no']);
  Object.assign(signer, { header: {}, signature: undefined }, members);
}
