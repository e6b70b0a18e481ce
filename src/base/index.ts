// The door of base: data structures, time and chance. No I/O, no Kubernetes word.
export { type Clock, type Timer, systemClock, delay } from './clock.ts';
export { type Random, systemRandom } from './random.ts';
export { invariant } from './invariant.ts';
