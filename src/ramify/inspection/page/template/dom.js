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
/* A text that may be broken after a mark. */
function breakable(text, mark) {
  return text.split(mark).flatMap((part, k) => (k ? [mark, document.createElement("wbr"), part] : [part]));
}

/* Seconds as a date, duration or time of day, with as many parts as necessary. */
function timeText(seconds, kind) {
  const days = Math.floor(seconds / 86400);
  const clock = new Date(1000 * (seconds - 86400 * days)).toISOString().slice(11, 19);
  if (kind === "duration") return `${days ? `${counted(days, "day")}, ` : ""}${clock}`;
  const time = clock.endsWith(":00") ? clock.slice(0, 5) : clock;
  if (kind === "time of day") return time;
  const moment = new Date(86400000 * days);
  if (Number.isNaN(moment.getTime())) return String(seconds);
  const day = moment.toISOString().split("T")[0];
  return (time === "00:00" ? day : `${day} ${time}`) + (kind.endsWith("zone") ? "Z" : "");
}

/* The seconds of a date as written by timeText; NaN if it is not one. */
function readDate(text) {
  const found = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?Z?$/.exec(text.trim());
  return found ? Date.parse(`${found[1]}T${found[2] || "00:00"}Z`) / 1000 : NaN;
}

const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
const fine = (number) => (number >= 0.095 || number === 0 ? two(number) : String(Number(number.toPrecision(2))));
const signed = (number) => (number > 0 ? "+" : "−") + Math.abs(number).toFixed(2);
const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const rowsText = (n) => counted(n, "row");
const cut = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);
const cutLeft = (text, length) => (text.length > length ? "…" + text.slice(1 - length) : text);
// The rows of a node, and their weight if it is lower because of parts of rows.
const rowsOf = (tree, node) => rowsText(tree.n[node]) +
  (tree.hasParts[node] && tree.weight[node] < 0.9 * tree.n[node] ? `, weight ${Number(tree.weight[node].toPrecision(3))}` : "");
