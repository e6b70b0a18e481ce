// Connections to other servers that are kept and used again, within bounds. Those that were not used for longest are forgotten: calls that are in
// progress over them end as they would, and idle ones close by their time.
import { Agent, type AgentOptions } from 'node:https';
import { BoundedCache } from '../../base/index.ts';

/** Options of connections that are kept: as many as there may be calls at a time, four times Go's, and for as long as Go keeps one that is not used. */
export const keptOptions: AgentOptions = { keepAlive: true, maxFreeSockets: 100, timeout: 90_000 };
/** Ways to meet servers whose connections are kept at most. */
const MAX_AGENTS = 200;

/** Authorities to verify a server by. As in Go, each of them is trusted by itself: one may be the certificate of the server, or stand below another. */
export const trustOnly = (authorities: string) => ({ ca: authorities, allowPartialTrustChain: true });

/** Agents, or other keepers of connections, by how servers are met. */
export class AgentPool<A extends Pick<Agent, 'destroy'> = Agent> {
  readonly #agents = new BoundedCache<string, A>({ limit: MAX_AGENTS });

  /** The agent of a key; `make` makes it with the options of connections that are kept. */
  agentFor(key: string, make: (kept: AgentOptions) => A): A {
    return this.#agents.getOrMake(key, () => make(keptOptions));
  }

  /** Closes every connection. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }
}
