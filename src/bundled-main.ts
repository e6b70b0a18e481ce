#!/usr/bin/env node
// The `pintle` command from its bundle: its arguments and its exit code.
import { compileProgram } from './compile-program.ts';

process.exitCode = await compileProgram(new URL('.', import.meta.url)).load().main(process.argv.slice(2));
