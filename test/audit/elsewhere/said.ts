// An entry for a line of the audit that no request of its own shows, and the check that the repository holds what it names.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The test that shows a line, by the file and its name there (in a transcript its command), or the reason for which the line does not apply. */
export type Elsewhere = { readonly file: string; readonly test: string } | { readonly notApplicable: string };

/** The fault of an entry: a reason without words, a file that is not there, or one without a test of this name. */
export function findFault(root: string, said: Elsewhere): string | undefined {
  if ('notApplicable' in said) return said.notApplicable.split(' ').length < 4 ? 'no reason' : undefined;
  let text = '';
  try {
    text = readFileSync(path.join(root, said.file), 'utf8');
  } catch {
    return `there is no ${said.file}`;
  }
  const isThere = said.file.endsWith('.txt') ? text.split('\n').includes(`$ ${said.test}`)
    : ['\'', '`'].some((quote) => text.includes(`test(${quote}${said.test}${quote}`) || text.includes(`it(${quote}${said.test}${quote}`));
  return isThere ? undefined : `${said.file} has no test with the name ${said.test}`;
}
