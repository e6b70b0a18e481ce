// Light or dark: as the system says, until the user chooses.
const STORED = 'pintle-console-theme';

/** Applies the choice of an earlier visit. */
export function restoreTheme(): void {
  const theme = localStorage.getItem(STORED);
  if (theme !== null) document.documentElement.dataset['theme'] = theme;
}

/** Changes to the other one. */
export function switchTheme(): void {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = theme;
  localStorage.setItem(STORED, theme);
}

/** Whether the page is dark now. */
export function isDark(): boolean {
  const chosen = document.documentElement.dataset['theme'];
  return chosen === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark';
}

/** A colour of the page, of the scheme that it has now, as numbers: canvases and terminals do not read names. */
export function resolveColour(parent: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  parent.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
