// The bundled program as a script whose bytecode the build keeps in a file beside it: Node then reads that file instead of compiling two megabytes
// at every start. Bytecode of another version of Node is refused by Node, which compiles the script as usual.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
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
  const script = new Script(readOnce(file).toString('latin1'), { filename: fileURLToPath(file), cachedData: readBytecode(folder) });
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
    return readOnce(new URL('program.bytecode', folder));
  } catch {
    return undefined;
  }
}

/**
 * Reads a file into pages that the process returns when they are garbage. Once a block of this size is freed in malloc, malloc keeps blocks up to
 * that size for itself: an idle server would hold 4 MB more.
 */
function readOnce(file: URL): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.from(new ArrayBuffer(size, { maxByteLength: size }));
    for (let at = 0; at < size;) {
      const read = readSync(descriptor, bytes, at, size - at, at);
      if (read === 0) throw new Error(`${fileURLToPath(file)} ends early`);
      at += read;
    }
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}
