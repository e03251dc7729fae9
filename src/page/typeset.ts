// Every text that the page shows keeps its numbers and units on one line.

import { type ComponentChildren, options, type VNode } from 'preact';
import { unbroken } from '../text/numbers.js';

function typeset(children: ComponentChildren): ComponentChildren {
  if (typeof children === 'string') return unbroken(children);
  return Array.isArray(children) ? children.map(typeset) : children;
}

/** Typesets every text that is shown after this call. Commands to copy and texts of fields stay as they are. */
export function typesetTexts(): void {
  const before = options.vnode;
  options.vnode = (node: VNode<{ children?: ComponentChildren }>) => {
    if (typeof node.type === 'string' && node.type !== 'pre' && node.props.children !== undefined)
      node.props.children = typeset(node.props.children);
    before?.(node);
  };
}
