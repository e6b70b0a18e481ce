// `pintle version`: this program, and the Kubernetes release that it answers as.
import { type Command, print } from './command.ts';
import { kubernetesVersion, readPackageVersion } from './version.ts';

/** Prints both versions. */
export const versionCommand: Command = {
  name: 'version', summary: 'Print the version of this program and the Kubernetes version that it serves.', schema: {},
  run: async () => print(`pintle ${readPackageVersion()} (Kubernetes ${kubernetesVersion.gitVersion})`),
};
