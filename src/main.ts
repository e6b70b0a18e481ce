#!/usr/bin/env node
// The `pintle` command: its arguments and its exit code.
import { runCommandLine } from './server/index.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), () => import('./testing/program/programs.ts'));
