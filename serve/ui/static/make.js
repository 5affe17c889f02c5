// Elements of the page, made of text: never of HTML from elsewhere.

/** An element with text or children. */
export function make(name, content = [], properties = {}) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...(Array.isArray(content) ? content : [content]));
  return element;
}

/** Offer `blob` for download. */
export function save(name, blob) {
  const link = make("a", [], { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
