// Connections to other servers that answer requests in this one's place: TLS by the authorities that an object names, kept and used again. The
// sockets of one place in Go's bounds.
import type { Agent } from 'node:https';
import { createSecureContext } from 'node:tls';
import { AgentPool, trustOnly } from '../webhooks/agent-pool.ts';
import { type Dial, createAgent } from '../webhooks/dial.ts';

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

/** Agents by what they trust. */
export class Upstreams {
  readonly #pool = new AgentPool();
  readonly #dial: Dial | undefined;

  constructor(dial: Dial | undefined) {
    this.#dial = dial;
  }

  /** The agent for servers that are met like this. Throws where the authorities or the key cannot be read. */
  agentFor(trust: Trust): Agent {
    const { authorities, skipsVerification, serverName, certificate = '', key } = trust;
    const name = [skipsVerification, serverName, certificate, authorities].join('\n');
    return this.#pool.agentFor(name, (kept) => createAgent({
      ...kept, rejectUnauthorized: !skipsVerification, ...(serverName !== '' && { servername: serverName }),
      secureContext: createSecureContext({
        ...(authorities !== '' && trustOnly(authorities)), ...(certificate !== '' && { cert: certificate }), ...(key !== undefined && { key }),
      }),
    }, { dial: this.#dial }));
  }

  /** Closes every connection. */
  close(): void {
    this.#pool.close();
  }
}
