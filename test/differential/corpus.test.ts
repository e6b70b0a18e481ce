// The corpus of the differential test: cases in which this server once answered otherwise than kube-apiserver, with that server's answers.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type TestServer, startTestServer } from '../../src/test-support/index.ts';
import { AREAS } from './areas/index.ts';
import type { Case } from './case.ts';
import { compare } from './compare.ts';
import type { Answer } from './normalise.ts';
import { CONTROLLERS, runCase } from './servers.ts';

interface Entry extends Case {
  readonly answers: readonly Answer[];
}

const folder = fileURLToPath(new URL('../../../test/differential/corpus/', import.meta.url));

describe('the corpus of the differential test', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({
      disableAdmissionPlugins: ['ServiceAccount'], controllers: CONTROLLERS, allowPrivileged: true, serviceClusterIpRange: '10.0.0.0/16',
    });
  });
  after(() => server.close());

  for (const file of readdirSync(folder).sort()) {
    const area = file.replace('.json', '');
    const entries = JSON.parse(readFileSync(`${folder}${file}`, 'utf8')) as Entry[];
    it(`${area}: ${entries.length} cases are answered as kube-apiserver answers them`, async () => {
      assert.ok(AREAS.some(({ name }) => name === area));
      const ask = (entry: Entry, index: number): Promise<Answer[]> => runCase(server.client, entry, `qc${area.replaceAll('-', '')}${index}x`);
      const answers = await Promise.all(entries.map(ask));
      const different = entries.flatMap((entry, index) => {
        const difference = compare(entry, entry.answers, answers[index]!);
        return difference === undefined || difference.sort === 'order' ? [] : [`${JSON.stringify(entry.requests)}\n${difference.lines.join('\n')}`];
      });
      assert.equal(different.length, 0, different.join('\n\n'));
    });
  }
});
