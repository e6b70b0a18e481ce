// The JavaScript of docs/library.md and docs/testing.md runs as it stands there, and the commands of docs/checking.md print what stands there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** Inside of the package, which thereby finds itself by its name. */
const folder = join(root, 'dist', 'examples-of-docs');

describe('documentation', () => {
  before(() => void mkdirSync(folder, { recursive: true }));
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const page of ['library.md', 'testing.md']) {
    const blocks = [...readFileSync(join(root, 'docs', page), 'utf8').matchAll(/^```js\n([^]*?)^```/gm)].map(([, code = '']) => code);
    it(`${page} has examples`, () => assert.ok(blocks.length > 1));
    for (const [index, code] of blocks.entries()) {
      it(`block ${index + 1} of ${page} runs`, { timeout: 60_000 }, () => {
        const file = join(folder, `${page}-${index}.mjs`);
        // Node before 24 does not know `await using`.
        writeFileSync(file, code.includes('await using server') ? `${code.replace('await using server', 'const server')}\nawait server.close();\n` : code);
        const { status, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
        assert.equal(status, 0, stderr);
      });
    }
  }

  it('the commands of checking.md print what stands there', { timeout: 60_000 }, () => {
    const page = readFileSync(join(root, 'docs', 'checking.md'), 'utf8');
    for (const [, name = '', text = ''] of page.matchAll(/^```yaml\n# file: (\S+)\n([^]*?)^```/gm)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), `# file: ${name}\n${text}`);
    }
    const commands = [...page.matchAll(/^```console\n([^]*?)^```/gm)].flatMap(([, block = '']) => block.split(/^\$ pintle /m).slice(1));
    assert.ok(commands.length >= 5);
    for (const command of commands) {
      const [line = '', ...expected] = command.split('\n');
      const args = [join(root, 'dist', 'bin', 'pintle.js'), ...line.split(' ')];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
      assert.equal(`${stdout}${stderr}exit code ${status}\n`, expected.join('\n'));
    }
  });
});
