#!/usr/bin/env node
// The `pintle` command: flags to options, signals, exit codes.
import { parseCommandLine, runCommand } from './server/index.ts';

process.exitCode = await runCommand(parseCommandLine(process.argv.slice(2)));
