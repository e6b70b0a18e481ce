// Files dropped anywhere on the page become the text of the view for new objects.
import { useEffect, useState } from 'preact/hooks';
import { formatRoute } from '../../model/index.ts';
import { openRoute } from '../../ui/index.ts';

/** Longer files are no manifests. */
const LONGEST_BYTES = 3 * 1024 * 1024;

const DRAFT = 'pintle-draft';

/** Opens the view for new objects with a text. */
export function openDraft(text: string): void {
  dispatchEvent(new CustomEvent(DRAFT, { detail: text }));
}

/** The text of the files that were dropped last, or of a draft; '' for none. */
export function useDrop(): string {
  const [text, setText] = useState('');
  useEffect(() => {
    const allow = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    };
    const take = (event: DragEvent): void => {
      const files = [...event.dataTransfer?.files ?? []].filter(({ size }) => size <= LONGEST_BYTES);
      if (files.length === 0) return;
      event.preventDefault();
      void Promise.all(files.map((file) => file.text())).then((texts) => {
        setText(texts.join('\n---\n'));
        openRoute(formatRoute('create'));
      });
    };
    const draft = (event: Event): void => {
      setText((event as CustomEvent<string>).detail);
      openRoute(formatRoute('create'));
    };
    addEventListener(DRAFT, draft);
    addEventListener('dragover', allow);
    addEventListener('drop', take);
    return () => {
      removeEventListener(DRAFT, draft);
      removeEventListener('dragover', allow);
      removeEventListener('drop', take);
    };
  }, []);
  return text;
}
