// Lines of the areas M to X that tests outside of the audit show, and those that do not apply.
import type { Elsewhere } from './said.ts';

/** By the line. */
export const extension: Readonly<Record<string, Elsewhere>> = {
  'N-23': { notApplicable: 'The token by which kube-apiserver asks itself is known to no client, and this server asks itself by calls.' },
  'O-25': { notApplicable: 'Conditional authorization begins with Kubernetes 1.37; 1.36 has no gate of that name.' },
  'Q-48': { file: 'test/clients/definitions.test.ts',
    test: '750 definitions fit into 600 MB when every kind of them is used, and each kind answers its first request within 50 ms' },
  'Q-49': { notApplicable: 'Columns of definitions by expressions are proposed; 1.36 has neither the field nor a gate for it.' },
  'T-11': { notApplicable: 'The line names suites of Kubernetes, which npm run upstream runs by name, and nothing that a server does.' },
  'U-05': { file: 'src/server/root-handler.test.ts', test: 'listChecks: readyz fails until the start is finished, livez as soon as its grace is over' },
  'U-14': { file: 'src/server/debug-pages.test.ts', test: '/debug/pprof takes profiles of the CPU and of the heap' },
  'V-01': { file: 'src/storage/store-model.suite.ts', test: 'any sequence of commands answers as a naive model does' },
  'V-18': { file: 'src/cache/store-reflector.test.ts', test: 'start lists in pages of one revision, then watches' },
  'V-21': { file: 'test/faults/replicas.test.ts', test: 'of writers of one object through both, each version is written once' },
  'V-22': { file: 'test/faults/turns.test.ts', test: 'each reads, changes and deletes what the other has written, of every kind' },
  'V-24': { file: 'test/faults/balancer.test.ts', test: 'no acknowledged write is lost, no list is stale, no event is lost, doubled or out of order, '
    + 'revisions never go back: two killed, one stopped, all replaced' },
  'V-27': { file: 'test/faults/restore.test.ts', test: 'after storage bump a restored backup uses no version again, and watches of older ones are 410' },
  'W-13': { file: 'test/clients/real-node.test.ts', test: 'resolves names of Services in pods' },
  'W-14': { file: 'src/controllers/volumes/protection.test.ts', test: 'lets a claim go that no pod on a node uses' },
  'W-15': { file: 'test/clients/real-node.test.ts', test: 'resolves names of Services in pods' },
  'W-16': { file: 'test/clients/real-node.test.ts', test: 'joined with a certificate that it asked for by a bootstrap token' },
  'W-20': { file: 'src/controllers/identity-lease.test.ts', test: 'are removed by another server once they have expired; other Leases stay' },
  'X-01': { file: 'test/clients/kubeconfig.test.ts', test: 'pintle kubeconfig --user NAME --group G makes a caller with a certificate of its own' },
  'X-23': { file: 'test/clients/controller-runtime.test.ts', test: 'the suites of controller-runtime pass as with the real programs' },
  'X-27': { file: 'test/clients/recipes.test.ts', test: 'suites of the official Java client and of fabric8 run under pintle run' },
  'X-28': { file: 'test/clients/real-crds.test.ts', test: 'definitions that others have published are served, and objects of their kinds are validated by them' },
  'X-30': { file: 'test/clients/metrics-server.test.ts', test: 'answers kubectl top about nodes and pods' },
  'X-33': { file: 'test/clients/real-node.test.ts', test: 'resolves names of Services in pods' },
  'X-34': { file: 'test/faults/turns.test.ts', test: 'each reads, changes and deletes what the other has written, of every kind' },
  'X-35': { notApplicable: 'Plugins of kubectl run on the machine of the client and send the requests that lines about kubectl show.' },
  'X-36': { file: 'test/conformance/openapi.test.ts', test: 'OpenAPI documents have the digests of kube-apiserver\\\'s' },
};
