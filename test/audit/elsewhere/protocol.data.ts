// Lines of the areas A to L that tests outside of the audit show, and those that do not apply.
import type { Elsewhere } from './said.ts';

/** By the line. */
export const protocol: Readonly<Record<string, Elsewhere>> = {
  'F-51': { notApplicable: 'Clients choose to leave managedFields out of what they read in Kubernetes 1.37 and later; 1.36 has no such option.' },
};
