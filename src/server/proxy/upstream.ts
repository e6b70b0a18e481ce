// Connections to other servers that answer requests in this one's place: TLS by the authorities that an object names, kept and used again. The
// sockets of one place in Go's bounds; places that were not used for longest are forgotten.
import { Agent } from 'node:https';
import { createSecureContext } from 'node:tls';

/** How another server is met. */
export interface Trust {
  /** PEM of the authorities; '' for those of the system. */
  readonly authorities: string;
  readonly skipsVerification: boolean;
  /** The name that its certificate must hold; '' for the address that it is reached at. */
  readonly serverName: string;
  /** PEM of what is shown to it. */
  readonly certificate?: string;
  readonly key?: string;
}

/** client-go's MaxIdleConnsPerHost, and how long Go keeps a connection that is not used. */
const MAX_FREE_SOCKETS = 25;
const IDLE_MS = 90_000;
const MAX_AGENTS = 200;

/** Agents by what they trust. */
export class Upstreams {
  readonly #agents = new Map<string, Agent>();

  /** The agent for servers that are met like this. Throws where the authorities or the key cannot be read. */
  agentFor(trust: Trust): Agent {
    const { authorities, skipsVerification, serverName, certificate = '', key } = trust;
    const name = [skipsVerification, serverName, certificate, authorities].join('\n');
    const known = this.#agents.get(name);
    if (known !== undefined) {
      this.#agents.delete(name);
      this.#agents.set(name, known);
      return known;
    }
    const agent = new Agent({
      keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS, timeout: IDLE_MS, rejectUnauthorized: !skipsVerification,
      ...(serverName !== '' && { servername: serverName }),
      secureContext: createSecureContext({
        ...(authorities !== '' && { ca: authorities }), ...(certificate !== '' && { cert: certificate }), ...(key !== undefined && { key }),
      }),
    });
    this.#agents.set(name, agent);
    const [oldest] = this.#agents;
    // Connections in use end with their requests.
    if (oldest !== undefined && this.#agents.size > MAX_AGENTS) this.#agents.delete(oldest[0]);
    return agent;
  }

  /** Closes every connection. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }
}
