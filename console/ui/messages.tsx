// Short messages: what went wrong, what is waited for, how something is.
import type { ComponentChildren, JSX } from 'preact';
import { findTone } from '../model/index.ts';
import { Icon } from './icons.tsx';

/** A message in the place of content, or above it. */
export function Notice({ tone, children }: { readonly tone: 'bad' | 'warn' | 'plain'; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {tone !== 'plain' && <Icon name="warn" />}<div>{children}</div>
    </div>
  );
}

/** A word of a status with its colour; the word itself says everything. */
export function StatusWord({ text }: { readonly text: string }): JSX.Element {
  const tone = findTone(text);
  return tone === '' ? <>{text}</> : <span class={`status ${tone}`}>{text}</span>;
}

/** An answer that is waited for. */
export const Waiting = ({ what }: { readonly what: string }): JSX.Element => <p class="waiting" role="status">{what}…</p>;
