#!/usr/bin/env node
// The `pintle` command: its arguments and its exit code.
import { runCommandLine } from './server/index.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), async () => (await import('./testing/program/run-with-server.ts')).runWithServer);
