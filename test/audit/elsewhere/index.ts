// Lines of the audit that no request of its own shows: a test of another part of the repository does, or there is nothing that could be shown. They are
// counted apart from the lines that are as the reference, since nothing here is compared with its answers.
import { extension } from './extension.data.ts';
import { protocol } from './protocol.data.ts';
import type { Elsewhere } from './said.ts';

/** An entry for each such line. */
export const elsewhere: Readonly<Record<string, Elsewhere>> = { ...protocol, ...extension };
