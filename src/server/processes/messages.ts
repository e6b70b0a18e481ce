// What the process that owns the store and the processes that serve connections say to each other, over the channel of a child process. Calls of
// the store and its answers have a pipe of their own (channel.ts), where all arrives in the order in which it was sent: an answer comes after every
// change that was committed before it.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { LogFormat } from '../observability/logger.ts';
import type { DiskChange } from '../open-store.ts';
import type { ServerOptions } from '../options/options.ts';

/** The descriptor of the pipe of the store, in the serving process. */
export const STORE_PIPE = 4;

/** What a serving process needs to begin. */
export interface Beginning {
  /** The options as data: clock, random numbers and log are made in the process. */
  readonly options: Partial<ServerOptions>;
  readonly port: number;
  /** Whether the calls of its store are sent to the owner; else it opens the store itself, as the options say. */
  readonly usesOwner: boolean;
  readonly log: { readonly verbosity: number; readonly format: LogFormat };
}

/** To a serving process. A connection comes with its message `connection`. */
export type ToServing =
  | { readonly type: 'begin'; readonly beginning: Beginning }
  | { readonly type: 'connection' | 'stop' }
  | { readonly type: 'disk'; readonly change: DiskChange }
  /** Asks for the metrics of the process. */
  | { readonly type: 'showMetrics'; readonly id: number }
  /** The metrics of the whole server. */
  | { readonly type: 'metrics'; readonly id: number; readonly text: string };

/** From a serving process. */
export type FromServing =
  | { readonly type: 'serving' }
  | { readonly type: 'failed'; readonly message: string }
  /** The connection that was sent is the process's now. */
  | { readonly type: 'connectionTaken'; readonly hasConnection: boolean }
  /** A number of connections have ended. */
  | { readonly type: 'connectionsClosed'; readonly count: number }
  | { readonly type: 'tokenUse'; readonly secret: KubeObject }
  | { readonly type: 'rotateAudit'; readonly bytes: number }
  | { readonly type: 'shownMetrics'; readonly id: number; readonly text: string }
  /** Asks for the metrics of the whole server; `text` are those of the process that asks. */
  | { readonly type: 'joinMetrics'; readonly id: number; readonly text: string };
