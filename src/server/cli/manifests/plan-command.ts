// `pintle plan`: what applying manifests would create, change, leave and prune, on an empty server, a snapshot, or a cluster.
import type { Command } from '../command.ts';
import { type EvaluateManifests, exitCodes, planSchema } from './schema.ts';

/** Makes the command; the test server is loaded when it runs. */
export function createPlanCommand(load: () => Promise<EvaluateManifests>): Command<typeof planSchema> {
  return {
    name: 'plan', summary: 'Show what applying manifests would change.', schema: planSchema, takesFiles: true,
    notes: [...exitCodes, 'With --detailed-exit-code: 3 nothing is wrong, and something would change.'],
    run: async ({ settings, files }) => (await load())({ ...settings, filenames: [...settings.filenames, ...files] }, 'plan'),
  };
}
