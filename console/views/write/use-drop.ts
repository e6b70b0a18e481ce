// Files dropped anywhere on the page become the text of the view for new objects.
import { useEffect, useState } from 'preact/hooks';
import { formatRoute } from '../../model/index.ts';
import { openRoute } from '../../ui/index.ts';

/** Longer files are no manifests. */
const LONGEST_BYTES = 3 * 1024 * 1024;

/** The text of the files that were dropped last; '' for none. */
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
    addEventListener('dragover', allow);
    addEventListener('drop', take);
    return () => {
      removeEventListener('dragover', allow);
      removeEventListener('drop', take);
    };
  }, []);
  return text;
}
