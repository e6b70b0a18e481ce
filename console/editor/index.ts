// The door of editor, which is loaded when a text is first shown: YAML and the editor for it.
export { type Editor, type EditorOptions, createEditor } from './editor.ts';
export { type YamlProblem, formatYaml, parseYaml } from './yaml.ts';
