// The door of ui: parts that views are made of.
export { Dialog } from './dialog.tsx';
export { Grid, type GridColumn } from './grid.tsx';
export { type Loaded, openRoute, useKey, useLoaded, useMedia, useNow, useRedraw, useRoute } from './hooks.ts';
export { Icon, type IconName } from './icons.tsx';
export { Notice, StatusWord, Waiting } from './messages.tsx';
export { isDark, resolveColour, restoreTheme, switchTheme } from './theme.ts';
