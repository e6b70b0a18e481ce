// `pintle run`: a program with a server of its own. The server is in memory, KUBECONFIG leads to it, and both end together.
import { resolve } from 'node:path';
import { StartError } from '../options/options.ts';
import { type SettingsOf, text, texts, toggle, words } from '../options/schema.ts';
import type { Command, RunWithServer } from './command.ts';

const schema = {
  crds: texts({ flag: 'crds', help: 'File, folder or glob of definitions that are established first; may be repeated.' }),
  manifests: texts({ flag: 'manifests', help: 'File, folder or glob of objects that are there at the start; may be repeated.' }),
  namespaces: words({ flag: 'namespaces', help: 'Namespaces that are there at the start.' }),
  seed: text({ flag: 'seed', help: 'Makes uids, generated names, times and resource versions repeat.' }),
  requestLog: text({ flag: 'request-log', help: 'File that gets a JSON line for each request.' }),
  existingCluster: toggle({ flag: 'use-existing-cluster', default: false, help: 'Set USE_EXISTING_CLUSTER=true for suites of controller-runtime\'s envtest.' }),
} as const;

/** What a program is run with. */
export type RunSettings = SettingsOf<typeof schema>;

/** Makes the command; the test server is loaded when it runs. */
export function createRunCommand(load: () => Promise<RunWithServer<RunSettings>>): Command<typeof schema> {
  return {
    name: 'run', summary: 'Run a program with a server in memory.', schema, takesWords: true,
    async run({ settings }, words) {
      if (words.length === 0) throw new StartError('run needs a command: pintle run [flags] -- COMMAND…');
      const absolute = (paths: readonly string[]): string[] => paths.map((path) => resolve(path));
      return (await load())({ ...settings, crds: absolute(settings.crds), manifests: absolute(settings.manifests) }, words);
    },
  };
}
