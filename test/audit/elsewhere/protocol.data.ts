// Lines of the areas A to L that tests outside of the audit show, and those that do not apply.
import type { Elsewhere } from './said.ts';

/** By the line. */
export const protocol: Readonly<Record<string, Elsewhere>> = {
  'A-14': { file: 'src/server/filters/filters.test.ts', test: 'answers 503 instead of 404 until all paths are known' },
  'A-20': { file: 'src/server/filters/filters.test.ts',
    test: 'answers 504 at the deadline of the request and aborts its signal; writes of one object have 34 seconds' },
  'A-32': { file: 'src/server/filters/filters.test.ts', test: 'answers 500 in plain text to a handler that breaks' },
  'F-50': { file: 'src/apimachinery/apply/outline.test.ts',
    test: 'PathsByOutline finds paths once per outline, and forgets those found first when there are too many' },
  'F-51': { notApplicable: 'Clients choose to leave managedFields out of what they read in Kubernetes 1.37 and later; 1.36 has no such option.' },
  'I-26': { file: 'src/server/filters/filters.test.ts',
    test: 'answers 504 at the deadline of the request and aborts its signal; writes of one object have 34 seconds' },
  'K-38': { file: 'src/endpoints/watch/encoded-event-cache.test.ts', test: 'EncodedEventCache encodes once for each object and key' },
};
