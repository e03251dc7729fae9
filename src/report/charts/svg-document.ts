// A small document to draw SVG in, where there is no page: elements, texts, attributes and inline styles, and their text.
// It has what Observable Plot and d3-selection use for charts, and nothing else.

const HTML = 'http://www.w3.org/1999/xhtml';

type ChildNode = SvgElement | SvgText;

class SvgText {
  readonly nodeType = 3;
  parentNode: SvgElement | null = null;
  constructor(
    readonly ownerDocument: SvgDocument,
    public textContent: string,
  ) {}

  get outerHTML(): string {
    return escapeText(this.textContent);
  }

  remove(): void {
    this.parentNode?.removeChild(this);
  }

  cloneNode(): SvgText {
    return new SvgText(this.ownerDocument, this.textContent);
  }
}

class SvgElement {
  readonly nodeType = 1;
  parentNode: SvgElement | null = null;
  readonly childNodes: ChildNode[] = [];
  readonly #attributes = new Map<string, string>();
  /** Inline styles by their names in CSS; fields such as `fontSize` set them too. */
  readonly style = createStyle(this.#attributes);

  constructor(
    readonly ownerDocument: SvgDocument,
    readonly namespaceURI: string,
    readonly tagName: string,
  ) {}

  get nodeName(): string {
    return this.tagName;
  }
  get firstChild(): ChildNode | null {
    return this.childNodes[0] ?? null;
  }
  get lastChild(): ChildNode | null {
    return this.childNodes.at(-1) ?? null;
  }
  get children(): SvgElement[] {
    return this.childNodes.filter((child) => child instanceof SvgElement);
  }

  get textContent(): string {
    return this.childNodes.map((child) => child.textContent).join('');
  }
  set textContent(text: string) {
    for (const child of [...this.childNodes]) child.remove();
    if (text !== '') this.appendChild(new SvgText(this.ownerDocument, String(text)));
  }

  get innerHTML(): string {
    return this.childNodes.map((child) => child.outerHTML).join('');
  }
  get outerHTML(): string {
    const attributes = Array.from(this.#attributes, ([name, value]) => ` ${name}="${escapeValue(value)}"`);
    return `<${this.tagName}${attributes.join('')}>${this.innerHTML}</${this.tagName}>`;
  }

  getAttribute(name: string): string | null {
    return this.#attributes.get(name) ?? null;
  }
  hasAttribute(name: string): boolean {
    return this.#attributes.has(name);
  }
  setAttribute(name: string, value: unknown): void {
    this.#attributes.set(name, String(value));
  }
  removeAttribute(name: string): void {
    this.#attributes.delete(name);
  }
  setAttributeNS(_: string | null, name: string, value: unknown): void {
    this.setAttribute(name, value);
  }

  append(...nodes: (ChildNode | string)[]): void {
    for (const node of nodes) {
      this.appendChild(typeof node === 'string' ? new SvgText(this.ownerDocument, node) : node);
    }
  }
  appendChild<N extends ChildNode>(node: N): N {
    return this.insertBefore(node, null);
  }
  insertBefore<N extends ChildNode>(node: N, before: ChildNode | null): N {
    node.remove();
    const at = before === null ? this.childNodes.length : this.childNodes.indexOf(before);
    if (at < 0) throw new Error('the node to insert before is not a child');
    this.childNodes.splice(at, 0, node);
    node.parentNode = this;
    return node;
  }
  removeChild<N extends ChildNode>(node: N): N {
    const at = this.childNodes.indexOf(node);
    if (at >= 0) this.childNodes.splice(at, 1);
    node.parentNode = null;
    return node;
  }
  remove(): void {
    this.parentNode?.removeChild(this);
  }

  /** The first element of this name below. */
  querySelector(name: string): SvgElement | null {
    for (const child of this.children) {
      const found = child.tagName === name ? child : child.querySelector(name);
      if (found) return found;
    }
    return null;
  }

  cloneNode(deep = false): SvgElement {
    const copy = new SvgElement(this.ownerDocument, this.namespaceURI, this.tagName);
    for (const [name, value] of this.#attributes) copy.setAttribute(name, value);
    if (deep) for (const child of this.childNodes) copy.appendChild(child.cloneNode(true));
    return copy;
  }
}

/** The inline styles of an element: `setProperty` of CSS, and any field by its name in a script. */
function createStyle(attributes: Map<string, string>): Record<string, unknown> {
  const rules = new Map<string, string>();
  const setProperty = (name: string, value: unknown) => {
    rules.set(name, String(value));
    attributes.set('style', Array.from(rules, ([rule, text]) => `${rule}: ${text};`).join(' '));
  };
  const inCss = (field: string) => field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return new Proxy<Record<string, unknown>>(
    { setProperty },
    {
      get: (known, field) => known[field as string] ?? rules.get(inCss(String(field))) ?? '',
      set(_, field, value) {
        setProperty(inCss(String(field)), value);
        return true;
      },
    },
  );
}

class SvgDocument {
  readonly nodeType = 9;
  readonly documentElement: SvgElement = new SvgElement(this, HTML, 'html');

  createElement(name: string): SvgElement {
    return new SvgElement(this, HTML, name);
  }
  createElementNS(namespace: string, name: string): SvgElement {
    return new SvgElement(this, namespace, name);
  }
  createTextNode(text: string): SvgText {
    return new SvgText(this, String(text));
  }
}

/** The page's document, or a small one of our own. Make it once, draw many. */
export async function chartDocument(): Promise<Document> {
  return typeof document === 'undefined' ? (new SvgDocument() as unknown as Document) : document;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function escapeValue(text: string): string {
  return escapeText(text).replaceAll('"', '&quot;');
}
