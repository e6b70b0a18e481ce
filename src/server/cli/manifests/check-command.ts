// `pintle check`: whether manifests would be accepted: by schema, rules, policies, quotas and roles, without a cluster.
import type { Command } from '../command.ts';
import { type EvaluateManifests, exitCodes, verdictSchema } from './schema.ts';

/** Makes the command; the test server is loaded when it runs. */
export function createCheckCommand(load: () => Promise<EvaluateManifests>): Command<typeof verdictSchema> {
  return {
    name: 'check', summary: 'Say whether manifests would be accepted, without a cluster.', schema: verdictSchema, takesFiles: true, notes: exitCodes,
    run: async ({ settings, files }) => (await load())({ ...settings, filenames: [...settings.filenames, ...files] }, 'check'),
  };
}
