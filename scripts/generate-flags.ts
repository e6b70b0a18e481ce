// Writes docs/flags.md.
import { writeFileSync } from 'node:fs';
import { formatFlagTable } from './flag-table.ts';

writeFileSync(new URL('../../docs/flags.md', import.meta.url), formatFlagTable());
