// A cluster as the evaluate of manifests: nothing but reads and dry runs.
import { type ApiUser, createRemoteClient, discover } from '../../client/index.ts';
import { KubeconfigError, readKubeconfig } from '../../kubeconfig/index.ts';
import { systemClock } from '../../base/index.ts';
import type { Target } from './targets.ts';

/** A cluster, and the user of the requests. */
export interface LiveStart {
  readonly kubeconfig: string;
  readonly context: string;
  readonly user: ApiUser | undefined;
}

/** The cluster of a kubeconfig, and the namespace of its context. Rejects with KubeconfigError. */
export async function createLiveTarget({ kubeconfig, context, user }: LiveStart): Promise<{ readonly target: Target; readonly namespace: string }> {
  const access = await readKubeconfig({ kubeconfig: kubeconfig || undefined, context: context || undefined }, systemClock);
  const client = createRemoteClient(access, 'pintle-plan');
  const ask: Target['ask'] = async (request) => {
    try {
      return await client.request({ ...request, ...(user !== undefined && { user }) });
    } catch (error) {
      if (error instanceof KubeconfigError) throw error;
      throw new KubeconfigError(`${access.url} does not answer: ${(error as Error).message}`, { cause: error });
    }
  };
  return {
    namespace: access.namespace,
    target: {
      isDry: true, ask, askAll: ask, discover: () => discover(ask), settle: async () => undefined,
      close: async () => client.close(),
    },
  };
}
