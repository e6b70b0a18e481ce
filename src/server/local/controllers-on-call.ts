// Controllers that begin at a sign: over a store whose state is complete they have nothing to do before it changes.
import type { Controllers } from '../../controllers/index.ts';

/** Starts controllers when `woken` resolves; all that a start waits for holds at once. */
export function startOnCall(woken: Promise<void>, start: () => Controllers): Controllers {
  let started: Controllers | undefined;
  let stopped = false;
  void woken.then(() => {
    if (!stopped) started = start();
  });
  return {
    ready: Promise.resolve(),
    rolesReady: Promise.resolve(),
    routesReady: Promise.resolve(),
    noteTokenUse: (secret) => started?.noteTokenUse(secret),
    noteAuthentication: () => started?.noteAuthentication(),
    async stop() {
      stopped = true;
      await started?.stop();
    },
  };
}
