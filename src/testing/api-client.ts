// The clients of @kubernetes/client-node, where that package is installed: Pintle does not bring it.
/** The part of a KubeConfig that is used here. */
interface ClientConfig {
  loadFromString(text: string): void;
  makeApiClient<T>(api: ApiConstructor<T>): T;
}

/** A class of @kubernetes/client-node such as CoreV1Api. */
export type ApiConstructor<T> = new (configuration: any) => T;

/** Makes a client of a class of @kubernetes/client-node; rejects when the package is not there. */
export async function makeApiClient<T>(api: ApiConstructor<T>, kubeconfig: string): Promise<T> {
  const config = await loadKubeConfig(kubeconfig);
  return config.makeApiClient(api);
}

/** A KubeConfig of @kubernetes/client-node. */
export async function loadKubeConfig(kubeconfig: string): Promise<ClientConfig> {
  const name = '@kubernetes/client-node';
  try {
    const { KubeConfig } = await import(name) as { readonly KubeConfig: new () => ClientConfig };
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    return config;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(`server.client needs the package ${name}: npm install --save-dev ${name}`, { cause: error });
  }
}
