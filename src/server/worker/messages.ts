// What the server's thread and a worker say to each other. Values of the store are copied, never shared: they may be views of large pieces of memory.
import type { EvaluationTask } from '../../admission/index.ts';
import type { User } from '../../auth/index.ts';
import type { YamlJson } from '../../codec/index.ts';
import type { ValidateRequest, createWriteValidator } from '../../crd/index.ts';
import type { RequestInfo, Response } from '../../endpoints/index.ts';
import type { Tally } from '../metrics/metric.ts';
import type { KeyRange, StoreEvent, WatchObserver } from '../../storage/index.ts';

/** A request that a worker handles: what its handler reads of an exchange. */
export interface HandledRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  readonly remoteAddress: string;
  readonly info: RequestInfo;
  readonly user: User;
  readonly auditId: string;
  readonly warnings: readonly string[];
  /** Stands for the definition of a custom resource, which the worker has to know as well. */
  readonly fingerprint: string | undefined;
}

/** A whole answer, and what the worker has counted meanwhile; `late` says that the worker does not know the resource yet. */
export type HandledResponse = { readonly response: Omit<Response, 'body'> & { readonly body: Uint8Array }; readonly tallies: readonly Tally[] } | 'late';

/** What came of a YAML text; what is wrong with it is an answer too, because errors do not keep their class between threads. */
export type YamlAnswer = { readonly parsed: YamlJson } | { readonly problem: string };

/** The tasks of a worker: what each takes and answers. */
export interface WorkerTasks {
  validate: { readonly input: ValidateRequest; readonly output: Awaited<ReturnType<ReturnType<typeof createWriteValidator>>> };
  readYaml: { readonly input: Uint8Array; readonly output: YamlAnswer };
  makeReadable: { readonly input: { readonly json: Uint8Array; readonly form: 'json' | 'yaml' }; readonly output: Uint8Array };
  evaluatePolicy: { readonly input: EvaluationTask; readonly output: unknown };
  handle: { readonly input: HandledRequest; readonly output: HandledResponse };
}

/** Calls of the Store that are answered once. */
export type StoreMethod = 'range' | 'txn' | 'compact' | 'timesToLive' | 'revision';

/** An error of the store, by its class. */
export interface StoreFailure {
  readonly name: string;
  readonly message: string;
  readonly outcomeKnown?: boolean | undefined;
}

/** Why a watch ended, as data. */
export type WatchEnd = Exclude<Parameters<WatchObserver['ended']>[0], { type: 'failed' }> | { readonly type: 'failed'; readonly failure: StoreFailure };

/** Answers of the Store, to a worker or a process. */
export type StoreAnswer =
  | { readonly type: 'answer'; readonly id: number; readonly result?: unknown; readonly failure?: StoreFailure }
  | { readonly type: 'events'; readonly watch: number; readonly batch: readonly StoreEvent[]; readonly revision: number; readonly bytes: number }
  | { readonly type: 'progress'; readonly watch: number; readonly revision: number }
  | { readonly type: 'ended'; readonly watch: number; readonly reason: WatchEnd };

/** To the worker. */
export type ToWorker =
  | StoreAnswer
  | { readonly type: 'task'; readonly id: number; readonly name: keyof WorkerTasks; readonly input: unknown }
  | { readonly type: 'abort'; readonly id: number };

/** Calls of the Store, from a worker or a process. */
export type StoreCall =
  | { readonly type: 'call'; readonly id: number; readonly method: StoreMethod; readonly request: unknown }
  | { readonly type: 'watch'; readonly watch: number; readonly range: KeyRange; readonly from: number }
  | { readonly type: 'requestProgress' | 'closeWatch'; readonly watch: number }
  | { readonly type: 'taken'; readonly bytes: number };

/** From the worker. */
export type FromWorker =
  | StoreCall
  | { readonly type: 'done'; readonly id: number; readonly output?: unknown; readonly error?: string; readonly heapBytes: number }
  | { readonly type: 'alive' };
