// The door of editor, which is loaded when a text is first shown: YAML and the editor for it.
export { type Editor, type EditorOptions, createEditor } from './editor.ts';
export { assist } from './assist.ts';
export { type OtherManager, showConflicts } from './conflicts.ts';
export { showChanges, showOwners } from './marks.ts';
export { findLineOwners } from './owners.ts';
export { type YamlProblem, formatYaml, parseAllYaml, parseYaml } from './yaml.ts';
