#!/usr/bin/env node
// The `pintle` command from its modules: its arguments and its exit code.
import { main } from './program.ts';

process.exitCode = await main(process.argv.slice(2));
