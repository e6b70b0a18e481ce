// Lines of the areas M to X that tests outside of the audit show, and those that do not apply.
import type { Elsewhere } from './said.ts';

/** By the line. */
export const extension: Readonly<Record<string, Elsewhere>> = {
  'O-25': { notApplicable: 'Conditional authorization begins with Kubernetes 1.37; 1.36 has no gate of that name.' },
};
