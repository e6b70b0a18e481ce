// How commands that serve are ended.

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(1);
        asked = true;
        resolve();
      });
    }
  });
}
