/* Connects the panes. */

class App {
  constructor(model) {
    this.model = model;
    this.tree = model.trees[0];
    const pane = (name) => document.getElementById(`pane-${name}`);
    this.view = new TreeView(document.getElementById("tree"), model, { choose: (node) => this.chooseNode(node) });
    this.panes = {
      node: new NodePane(this, pane("node")), label: new LabelPane(this, pane("label")),
      example: new ExamplePane(this, pane("example")), feature: new FeaturePane(this, pane("feature")),
      related: new RelatedPane(this, pane("related")),
    };
    this.tabs = Object.keys(this.panes).map((name) => document.getElementById(`tab-${name}`)).filter((tab) => !tab.hidden);
    this.answer = new Answer(this, document.getElementById("answer"));
    this.listen();
    this.fillHeader();
    this.open("node");
    this.setTree(0);
    if (model.start !== undefined) this.chooseLabel(model.start);
  }

  fillHeader() {
    const { model } = this;
    const facts = [model.kind, counted(model.labels.length, "label"), counted(model.features.length, "feature")];
    if (model.nTrees > 1) facts.push(`${model.nTrees} trees`);
    document.getElementById("facts").textContent = facts.join(" · ") + (model.note ? `. ${model.note}` : "");
    const select = document.getElementById("tree-select");
    select.append(...model.trees.map((tree, k) => h("option", { value: k, text: tree.name || `tree ${k + 1}` })));
    if (model.nTrees > model.trees.length) {
      select.append(h("option", { disabled: true, text: `… ${model.nTrees - model.trees.length} more trees not included in this page` }));
    }
    document.getElementById("tree-choice").hidden = model.nTrees < 2;
    select.addEventListener("change", () => this.setTree(Number(select.value)));
  }

  setTree(k) {
    this.tree = this.model.trees[k];
    this.rowParts = null;
    this.view.passed = new Map();
    this.view.setTree(this.tree);
    this.view.colourBy(this.label);
    this.panes.node.show(0);
    this.panes.label.setTree();
    this.panes.example.setTree();
    this.panes.feature.show();
    this.showColour();
  }

  listen() {
    const actions = { fit: () => this.view.fit(), in: () => this.view.zoom(1.25), out: () => this.view.zoom(0.8),
      expand: () => this.view.setAll(true), collapse: () => this.view.setAll(false) };
    document.querySelectorAll("[data-do]").forEach((button) => button.addEventListener("click", actions[button.dataset.do]));
    this.tabs.forEach((tab, k) => {
      tab.addEventListener("click", () => this.open(tab.id.slice(4)));
      tab.addEventListener("keydown", (event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!by) return;
        const next = this.tabs[(k + by + this.tabs.length) % this.tabs.length];
        this.open(next.id.slice(4));
        next.focus();
      });
    });
    const root = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => { root.dataset.theme = dark.matches ? "dark" : "light"; };
    follow();
    dark.addEventListener("change", follow);
    document.getElementById("theme").addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; });
  }

  open(name) {
    this.tabs.forEach((tab) => {
      const chosen = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !chosen;
    });
    const pane = this.panes[name];
    if (pane.outline) pane.outline.draw();
    if (name === "feature") pane.show();
  }

  chooseNode(node) {
    this.panes.node.show(node);
    this.open("node");
    this.say(this.view.spoken(node));
  }

  chooseLabel(label) {
    this.open("label");
    this.panes.label.go(label);
  }

  chooseExample(row) {
    this.open("example");
    this.panes.example.choose(row);
  }

  colourBy(label) {
    this.label = label;
    this.view.colourBy(label);
    this.showColour();
    const what = this.model.hasMargins ? "move of the margin" : "probability";
    if (label !== undefined) this.say(`Nodes are coloured by the ${what} of ${this.model.labels[label]}`);
  }

  showColour() {
    const nodes = this.model.hasMargins ? "Colour: size of the moves" : "Colour: node purity";
    const text = this.label === undefined ? nodes : `Colour: ${this.model.labels[this.label]}`;
    const ends = this.label === undefined ? ["", ""] : ["0", fine(this.view.largest > 1e-9 ? this.view.largest : 0)];
    const parts = [h("span", { text }), h("span", { text: ends[0] }), h("span", { class: "ramp", "aria-hidden": "true" }), h("span", { text: ends[1] })];
    if (this.label !== undefined) parts.push(h("button", { class: "link", type: "button", text: "reset", onclick: () => this.panes.label.close() }));
    document.getElementById("colour").replaceChildren(...parts);
  }

  /* The rows of the data that reach a node, those with the largest fraction first. */
  examplesOf(node) {
    if (!this.rowParts) this.rowParts = this.model.rows.X.map((row) => this.tree.drop(row));
    const found = [];
    this.rowParts.forEach((parts, row) => { if (parts.has(node)) found.push(row); });
    return found.sort((a, b) => this.rowParts[b].get(node) - this.rowParts[a].get(node) || a - b);
  }

  say(text) { document.getElementById("live").textContent = text; }
}

window.app = new App(new Model(JSON.parse(document.getElementById("data").textContent)));
