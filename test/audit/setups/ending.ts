// Lines about a server that ends.
import type { Setup } from '../row.ts';
import { inNamespace } from './files.ts';

export const ending: Setup = {
  name: 'ending',
  flags: ['--shutdown-delay-duration=4s', '--shutdown-send-retry-after=true', '--shutdown-watch-termination-grace-period=2s', '--livez-grace-period=1s'],
  rows: [
    { line: 'A-52 U-04 K-43', what: 'checks, requests and watches of a server that was told to end', requests: [{ path: '/readyz/shutdown' },
      { path: '/livez/shutdown' },
      { path: `${inNamespace}/configmaps` }, { path: `open:w${inNamespace}/podtemplates?watch=1` },
      { path: 'signal:SIGTERM' }, { path: '/readyz/shutdown', pauseMs: 1000 }, { path: '/livez' },
        { path: '/healthz' },
      { path: `${inNamespace}/configmaps`, shows: ['retry-after'] }, { path: 'heard:w' }] },
  ],
};
