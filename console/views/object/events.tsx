// The events about an object, the latest first.
import type { JSX } from 'preact';
import { fetchEvents } from '../../api/index.ts';
import { formatAge } from '../../model/index.ts';
import { Notice, StatusWord, Waiting, useLoaded, useNow } from '../../ui/index.ts';

/** The list of events. */
export function Events({ uid, namespace }: { readonly uid: string; readonly namespace: string }): JSX.Element {
  const now = useNow();
  const events = useLoaded((signal) => fetchEvents(uid, namespace, signal), [uid, namespace]);
  if (events.type === 'waiting') return <Waiting what="Reading events" />;
  if (events.type === 'failed') return <Notice tone="bad">{events.error.message}</Notice>;
  if (events.value.length === 0) return <p class="empty">No events are kept about it.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Events">
      <table class="plain">
        <thead><tr><th>Type</th><th>Reason</th><th>Message</th><th>From</th><th>Count</th><th>Last seen</th></tr></thead>
        <tbody>
          {events.value.map(({ uid: id, type, reason, message, source, count, time }) => (
            <tr key={id}>
              <td><StatusWord text={type} /></td><td>{reason}</td><td class="long">{message}</td>
              <td>{source}</td><td>{count}</td><td>{formatAge(time, now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
