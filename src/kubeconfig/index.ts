// The door of kubeconfigs: the address of a server and the credentials for it.
export { type ClusterAccess, type KubeconfigSource, KubeconfigError, readKubeconfig } from './kubeconfig.ts';
