// A dialog of the browser: focus stays inside, Escape closes it, and the page behind cannot be reached.
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** What a dialog shows. */
export interface DialogProps {
  readonly label: string;
  readonly class?: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog, open for as long as it is drawn. */
export function Dialog({ label, onClose, children, ...props }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog?.open === false) dialog.showModal();
    return () => dialog?.close();
  }, []);
  const onClick = (event: MouseEvent): void => {
    if (event.target === element.current) onClose();
  };
  return (
    <dialog ref={element} class={props.class ?? ''} aria-label={label} onClick={onClick} onCancel={(event) => {
      event.preventDefault();
      onClose();
    }}>
      {children}
    </dialog>
  );
}
