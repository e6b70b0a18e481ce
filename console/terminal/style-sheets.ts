// Ways around the styles that xterm.js writes inline, which the policy of the page does not allow: style elements become style sheets that are added as
// objects, and style attributes become properties.

/** Stands for a style element: its text is a sheet, for as long as it is in the document. */
function createStyle(): HTMLElement {
  const sheet = new CSSStyleSheet();
  const element = Document.prototype.createElement.call(document, 'span');
  element.hidden = true;
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, 'textContent', {
    get: () => '',
    set(text: string) {
      sheet.replaceSync(text);
    },
  });
  Object.defineProperty(element, 'remove', {
    value() {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
      Element.prototype.remove.call(element);
    },
  });
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

function createElement(tag: string): HTMLElement {
  if (tag === 'style') return createStyle();
  return Object.assign(Document.prototype.createElement.call(document, tag), { setAttribute });
}

let uses = 0;

/**
 * Has the document make such elements until the function that it returns is called. xterm.js takes another document for some of its parts alone, so it
 * is the page's own that makes them while terminals are open; elements of others are the same but for the way in which their attribute `style` is set.
 */
export function useStyleSheets(): () => void {
  if (uses === 0) Object.assign(document, { createElement });
  uses += 1;
  return () => {
    uses -= 1;
    if (uses === 0) Reflect.deleteProperty(document, 'createElement');
  };
}
