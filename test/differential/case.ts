// What the differential test sends: cases of requests, made by an area from a seed. Names are written as {ns} (a namespace of the case) and {id}
// (a word of the case), and what an earlier answer holds as {name} of a `save`.
import type { Dice } from '../fuzz/mutate.ts';

export type Json = Record<string, any>;

/** One request of a case. */
export interface Request {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  /** Content-Type and Accept, where they are not JSON. */
  readonly type?: string;
  readonly accept?: string;
  /** Other headers of the request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of the answer that are compared beside those of all answers. */
  readonly shows?: readonly string[];
  /** Of an answer that lists metrics these are compared: their help, type and names of labels. */
  readonly metrics?: readonly string[];
  /** Of a large answer these are compared, by JSON pointers, without descriptions; `#` behind a pointer stands for the number of members. */
  readonly parts?: readonly string[];
  /** The user; `nobody` sends no token, and admin is the default. */
  readonly as?: 'alice' | 'bob' | 'nobody';
  /** Fields of the answer, by dots or as JSON pointers, or `headers.` and the name of a header, by the names that later requests use them with. */
  readonly save?: Readonly<Record<string, string>>;
  /** The request is repeated until this field of the answer has this value; the answers are not compared. */
  readonly until?: { readonly field: string; readonly equals: unknown };
  /** The case ends here unless the answer is good. */
  readonly isNeeded?: boolean;
  /** A pause before the request, for what reaches the server's memory by a watch. */
  readonly pauseMs?: number;
}

/** Requests that belong together. */
export interface Case {
  readonly requests: readonly Request[];
}

/** A good object with the path that it is created at, in which {ns} and {id} stand for names. */
export interface Seed {
  readonly path: string;
  readonly body: Json;
}

/** Everything that generators look at. */
export interface Facts {
  /** Schemas of OpenAPI v3 by their names. */
  readonly schemas: Readonly<Record<string, Json>>;
  /** Objects of built-in kinds. */
  readonly seeds: readonly Seed[];
  /** Definitions of custom resources. */
  readonly definitions: readonly Seed[];
  /** Objects of built-in kinds that were refused. */
  readonly refused: readonly Seed[];
}

/** A part of the API and the cases that are made for it. */
export interface Area {
  readonly name: string;
  /** Cases of a run without --count. */
  readonly count: number;
  /** The case of a number; the dice are those of the seed and the number. */
  makeCase(dice: Dice, facts: Facts, index: number): Case;
}
