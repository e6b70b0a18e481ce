// The timestamps of metadata, managed fields and conditions as texts.
import { formatSecond } from '../base/index.ts';

/** RFC 3339 in UTC, to the second, as timestamps of metadata are. */
export function formatTime(nowMs: number): string {
  return `${formatSecond(Math.floor(nowMs / 1000))}Z`;
}
