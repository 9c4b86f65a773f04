/* Create elements; text is always inserted as text, never as markup. */

const SVG_NS = "http://www.w3.org/2000/svg";

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

function h(tag, attributes, ...children) {
  const element = setAttributes(document.createElement(tag), attributes);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function s(tag, attributes, ...children) {
  const element = setAttributes(document.createElementNS(SVG_NS, tag), attributes);
  element.append(...children);
  return element;
}

const two = (number) => number.toFixed(2);
const fine = (number) => (number >= 0.095 || number === 0 ? two(number) : String(Number(number.toPrecision(2))));
const signed = (number) => (number > 0 ? "+" : "−") + Math.abs(number).toFixed(2);
const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const rowsText = (n) => counted(n, "row");
const cut = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);
const cutLeft = (text, length) => (text.length > length ? "…" + text.slice(1 - length) : text);
// The rows of a node, and their weight if it is lower because of parts of rows.
const rowsOf = (tree, node) => rowsText(tree.n[node]) +
  (tree.hasParts[node] && tree.weight[node] < 0.9 * tree.n[node] ? `, weight ${Number(tree.weight[node].toPrecision(3))}` : "");
