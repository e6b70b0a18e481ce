// AlwaysAdmit and AlwaysDeny, which tests of the reference use. Both are off unless they are asked for.
import type { AdmissionPlugin } from '../chain.ts';
import { refuse } from '../refusal.ts';

/** Makes AlwaysAdmit, which does nothing. */
export const createAlwaysAdmit = (): AdmissionPlugin => ({ name: 'AlwaysAdmit', handles: () => false });

/** Makes AlwaysDeny, which refuses every write. */
export const createAlwaysDeny = (): AdmissionPlugin => ({
  name: 'AlwaysDeny',
  handles: () => true,
  mutate(attributes) {
    throw refuse(attributes, 'admission control is denying all modifications');
  },
});
