// An object as YAML, in an editor that is loaded when it is first needed.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Editor, EditorOptions } from '../../editor/index.ts';
import { Notice, Waiting, isDark } from '../../ui/index.ts';

interface YamlEditorProps {
  /** Read once. */
  readonly options: Omit<EditorOptions, 'parent' | 'isDark'>;
  readonly onReady?: (editor: Editor) => void;
}

/** An editor in the place of this component. */
export function YamlEditor({ options, onReady }: YamlEditorProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'loading' | 'there' | 'failed'>('loading');
  useEffect(() => {
    let [editor, isGone]: [Editor | undefined, boolean] = [undefined, false];
    import('../../editor/index.ts').then(({ createEditor }) => {
      // The component may have left the page while the editor was loaded.
      const parent = place.current;
      if (isGone || parent === null) return;
      editor = createEditor({ ...options, parent, isDark: isDark() });
      setState('there');
      onReady?.(editor);
    }, () => setState('failed'));
    return () => {
      isGone = true;
      editor?.close();
    };
  }, []);
  return (
    <>
      {state === 'loading' && <Waiting what="Loading the editor" />}
      {state === 'failed' && <Notice tone="bad">The editor could not be loaded.</Notice>}
      <div class="editor" ref={place} />
    </>
  );
}
