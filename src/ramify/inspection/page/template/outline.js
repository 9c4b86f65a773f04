/* The hierarchy as a collapsible outline with bars; only visible lines are in the document. */

const LINE = 26;

class Outline {
  /* options: name for screen readers, pick(label) called when a line is selected */
  constructor(model, options) {
    this.model = model;
    this.options = options;
    this.open = new Set();
    this.shown = [];
    this.at = 0;
    this.lines = h("div", { class: "lines" });
    this.element = h("div", { class: "outline", role: "tree", "aria-label": options.name, tabindex: "-1" }, this.lines);
    this.element.addEventListener("scroll", () => this.draw());
    this.element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /* values: one number per label; reference: values to compare with, or null; truth: set or null */
  show(values, reference, truth) {
    Object.assign(this, { values, reference, truth });
    this.open = new Set();
    this.scale = this.model.hasMargins ? values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9) : 1;
    const least = this.model.hasMargins ? 0.5 * this.scale : 0.1;
    const telling = (label) => Math.abs(values[label]) >= least
      || (reference && values[label] - reference[label] >= least) || (truth && truth.has(label));
    const deep = this.model.labels.length > 60;
    this.model.labels.forEach((_, label) => {
      const parent = this.model.parent[label];
      if (parent >= 0 && telling(label) && (!deep || reference || this.model.level[label] < 2)) this.open.add(parent);
    });
    this.chosen = -1;
    this.at = 0;
    this.element.scrollTop = 0;
    this.refresh();
  }

  search(text) {
    this.text = text.trim().toLowerCase();
    this.element.scrollTop = 0;
    this.at = 0;
    this.refresh();
    return this.nFound;
  }

  /* Match the name, or the whole path if the text contains a separator. */
  matches(label) {
    const name = this.model.short[label].toLowerCase();
    return name.includes(this.text) || (this.text.includes(this.model.separator) && this.model.labels[label].toLowerCase().includes(this.text));
  }

  worth(label) {
    return !this.reference || Math.abs(this.values[label]) >= 0.005 || Math.abs(this.reference[label]) >= 0.005
      || (this.truth && this.truth.has(label));
  }

  refresh() {
    const { model } = this;
    this.shown = [];
    let wanted = null;
    this.nFound = 0;
    if (this.text) {
      wanted = new Set();
      model.labels.forEach((_, label) => {
        if (!this.matches(label)) return;
        this.nFound += 1;
        for (let p = label; p >= 0 && !wanted.has(p); p = model.parent[p]) wanted.add(p);
      });
    }
    const stack = [...model.top].reverse();
    while (stack.length) {
      const label = stack.pop();
      if (wanted ? !wanted.has(label) : !this.worth(label)) continue;
      this.shown.push(label);
      if (wanted || this.open.has(label)) stack.push(...[...model.below[label]].reverse());
    }
    this.lines.style.height = `${this.shown.length * LINE}px`;
    this.at = Math.min(this.at, Math.max(0, this.shown.length - 1));
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / LINE) - 4);
    const last = Math.min(this.shown.length, first + Math.ceil(this.element.clientHeight / LINE) + 9);
    const focused = this.lines.contains(document.activeElement);
    this.lines.replaceChildren();
    for (let k = first; k < last; k++) this.lines.append(this.line(k));
    if (focused) this.focus();
  }

  hasBelow(label) { return this.model.below[label].some((child) => this.worth(child)); }

  line(k) {
    const label = this.shown[k];
    const value = this.values[label];
    const change = this.reference ? value - this.reference[label] : 0;
    const turn = this.hasBelow(label);
    const open = turn && (this.open.has(label) || Boolean(this.text));
    const moved = Math.abs(change) >= 0.005;
    const isTrue = this.truth && this.truth.has(label);
    const spoken = `${this.model.labels[label]}, ${this.model.figure(value)}${moved ? `, ${signed(change)}` : ""}${isTrue ? ", true label" : ""}`;
    return h("div", {
      class: "line", role: "treeitem", style: `top:${k * LINE}px`, "data-k": k,
      tabindex: k === this.at ? "0" : "-1", "aria-level": this.model.level[label] + 1,
      "aria-expanded": turn ? String(open) : null, "aria-selected": String(label === this.chosen),
      "aria-setsize": this.shown.length, "aria-posinset": k + 1, "aria-label": spoken,
      title: this.model.labels[label], onclick: (event) => this.click(k, event),
    },
    h("span", { class: "fill", style: `width:${(100 * Math.abs(value)) / this.scale}%` }),
    this.name(label, turn, open),
    h("span", { class: "true", text: isTrue ? "✓" : "", title: "true label of this row" }),
    h("span", { class: "figure", text: this.model.figure(value) }),
    h("span", { class: `figure change ${change > 0 ? "up" : "down"}`, text: moved ? signed(change) : "" }));
  }

  name(label, turn, open) {
    const indent = 14 * Math.min(this.model.level[label], 12);
    const name = h("span", { class: "name", style: `padding-left:${indent}px` },
      h("span", { class: "turn", text: turn ? (open ? "▾" : "▸") : "" }));
    const text = this.model.short[label];
    const at = this.text ? text.toLowerCase().indexOf(this.text) : -1;
    if (at < 0) name.append(text);
    else name.append(text.slice(0, at), h("mark", { text: text.slice(at, at + this.text.length) }), text.slice(at + this.text.length));
    return name;
  }

  click(k, event) {
    this.at = k;
    const label = this.shown[k];
    const onTurn = event && event.target.classList.contains("turn");
    if (!onTurn && this.options.pick) {
      this.chosen = label;
      this.options.pick(label);
    }
    if (this.hasBelow(label) && (onTurn || !this.options.pick)) this.toggle(label);
    this.draw();
    this.focus();
  }

  toggle(label) {
    if (this.open.has(label)) this.open.delete(label); else this.open.add(label);
    this.refresh();
  }

  /* Expands all ancestors of a label and scrolls to it. */
  reveal(label) {
    this.chosen = label;
    this.text = "";
    for (let p = this.model.parent[label]; p >= 0; p = this.model.parent[p]) this.open.add(p);
    this.refresh();
    this.at = Math.max(0, this.shown.indexOf(label));
    this.scrollTo();
    this.draw();
  }

  scrollTo() {
    const top = this.at * LINE;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop || top > scrollTop + clientHeight - LINE) {
      this.element.scrollTop = top - clientHeight / 2;
    }
  }

  focus() {
    const line = this.lines.querySelector(`[data-k="${this.at}"]`);
    if (line) line.focus({ preventScroll: true });
  }

  key(event) {
    const label = this.shown[this.at];
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e6, End: 1e6 };
    if (event.key in moves) {
      this.at = Math.min(this.shown.length - 1, Math.max(0, this.at + moves[event.key]));
    } else if (event.key === "ArrowRight" && this.hasBelow(label)) {
      if (this.open.has(label)) this.at += 1; else this.toggle(label);
    } else if (event.key === "ArrowLeft") {
      if (this.open.has(label)) this.toggle(label);
      else this.at = Math.max(0, this.shown.indexOf(this.model.parent[label]));
    } else if (event.key === "Enter" || event.key === " ") {
      this.click(this.at, null);
    } else return;
    event.preventDefault();
    this.scrollTo();
    this.draw();
    this.focus();
  }
}
