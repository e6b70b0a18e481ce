// The bundled program as a script whose bytecode the build keeps in a file beside it: Node then reads that file instead of compiling two megabytes
// at every start. Bytecode of another version of Node is refused by Node, which compiles the script as usual.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/** What the bundle exports. */
export type Program = Pick<typeof import('./program.ts'), 'main'>;

/** The bundle of a folder, compiled. */
export interface CompiledProgram {
  /** Runs the outermost level of the bundle. */
  readonly load: () => Program;
  /** The bytecode of all functions that have run so far. */
  readonly createBytecode: () => Buffer;
}

type RunBundle = (
  exports: object, require: NodeJS.Require, module: object, bundle: { readonly url: string; readonly load: (name: string) => Promise<unknown> },
) => void;

/** Compiles `program.cjs` of a folder, with the help of `program.bytecode` where that is of use. */
export function compileProgram(folder: URL): CompiledProgram {
  const file = new URL('program.cjs', folder);
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: fileURLToPath(file), cachedData: readBytecode(folder),
  });
  return {
    load() {
      const module = { exports: {} };
      const run = script.runInThisContext() as RunBundle;
      // A script that comes from bytecode has no `import()` of its own.
      run(module.exports, createRequire(file), module, { url: file.href, load: (name) => import(name) });
      return module.exports as Program;
    },
    createBytecode: () => script.createCachedData(),
  };
}

function readBytecode(folder: URL): Buffer | undefined {
  try {
    return readFileSync(new URL('program.bytecode', folder));
  } catch {
    return undefined;
  }
}
