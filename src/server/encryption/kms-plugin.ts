// What every provider has in common whose keys are in a key management plugin, whichever version of the protocol that speaks.
import type { Cipher } from './ciphers.ts';

/** The provider of one plugin. */
export interface KmsPlugin {
  /** Of the protocol. */
  readonly version: 'v1' | 'v2';
  readonly cipher: Cipher;
  /** How long one call may take. */
  readonly timeoutMs: number;
  /** Asks the plugin for the first time; resolves also where it does not answer. */
  start(): Promise<void>;
  /** Rejects when the plugin is not well, or was not a moment ago. */
  check(): Promise<void>;
  stop(): void;
}
