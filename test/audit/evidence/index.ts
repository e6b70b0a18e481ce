// Lines of the audit that scenarios of the oracle show. A line is as the reference when the ledger of the oracle names none of its scenarios.
import { access } from './access.data.ts';
import { extension } from './extension.data.ts';
import { kinds } from './kinds.data.ts';
import { protocol } from './protocol.data.ts';
import { reading } from './reading.data.ts';
import { writing } from './writing.data.ts';

/** Scenarios by the lines that they show, each as `area/name`. */
export const evidence: Readonly<Record<string, readonly string[]>> = { ...protocol, ...writing, ...reading, ...kinds, ...access, ...extension };
