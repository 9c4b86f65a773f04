/* The side panes: node, labels and features. */

const FEW = 8;  // rows of a node that are shown at first

class NodePane {
  constructor(app, element) {
    this.app = app;
    this.element = element;
    this.against = "parent";
    this.outline = new Outline(app.model, { name: "Labels of the node", pick: (label) => app.chooseLabel(label) });
  }

  show(node) {
    this.node = node;
    const { model, tree } = this.app;
    const leaf = tree.isLeaf(node);
    const kind = node === 0 ? "Root" : leaf ? "Leaf" : "Node";
    const share = tree.weight[node] / tree.weight[0];
    const conditions = tree.path(node).slice(1).map((i) => h("li", {},
      h("button", { class: "link", type: "button", text: model.condition(tree, tree.parent[i], tree.branch[i]), onclick: () => this.app.view.choose(tree.parent[i]) })));
    const parts = [
      h("h2", { text: `${kind} ${node}: ${rowsOf(tree, node)}, ${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %` }),
      leaf ? null : h("p", {}, "Test: ", h("strong", { text: model.question(tree, node) }),
        tree.missing[node] ? h("span", { class: "muted", text: ` (${rowsText(tree.missing[node])} with a missing value, divided among all branches)` }) : null),
    ];
    if (conditions.length) parts.push(h("h3", { text: "Path to this node" }), h("ol", { class: "path" }, ...conditions));
    parts.push(...this.examples(node), ...this.heading(node));
    this.element.replaceChildren(...parts.filter(Boolean), this.outline.element);
    this.fill();
  }

  examples(node) {
    const { app } = this;
    if (!app.model.rows) return [];
    const found = app.examplesOf(node);
    if (!found.length) return [h("h3", { text: "No rows of the data reach this node" })];
    const chip = (row) => h("button", { type: "button", text: app.model.rows.names[row], onclick: () => app.chooseExample(row) });
    const chips = h("div", { class: "chips" }, ...found.slice(0, FEW).map(chip));
    if (found.length > FEW) {
      const more = h("button", { type: "button", class: "link", text: `${(found.length - FEW).toLocaleString("en")} more`, onclick: () => more.replaceWith(...found.slice(FEW).map(chip)) });
      chips.append(more);
    }
    return [h("h3", { text: `Rows of the data: ${found.length.toLocaleString("en")}` }), chips];
  }

  heading(node) {
    const pick = h("select", { "aria-label": "Compare the labels with", onchange: (event) => { this.against = event.target.value; this.fill(); } },
      h("option", { value: "parent", text: "the parent node" }), h("option", { value: "root", text: "all rows" }));
    pick.value = this.against;
    const what = this.app.model.hasMargins ? "Moves of margins" : "Labels";
    const title = h("h3", { text: `${what}, and change from` });
    return node === 0 ? [h("h3", { text: `${what} of all rows` })] : [h("div", { class: "row" }, title, pick)];
  }

  fill() {
    const { tree } = this.app;
    const other = this.node === 0 ? 0 : this.against === "root" ? 0 : tree.parent[this.node];
    this.outline.show(tree.values(this.node), tree.values(other), null);
  }
}

class LabelPane {
  constructor(app, element) {
    this.app = app;
    this.element = element;
    this.outline = new Outline(app.model, { name: "All labels", pick: (label) => this.choose(label) });
    this.count = h("span", { class: "muted", role: "status" });
    this.input = h("input", { type: "search", placeholder: "Search for a label", "aria-label": "Search for a label",
      oninput: () => this.search(), onkeydown: (event) => this.enter(event) });
    this.details = h("div", { id: "label-details" });
    element.append(h("div", { class: "row" }, this.input, this.count), this.details, this.outline.element);
  }

  setTree() {
    this.outline.show(this.app.tree.values(0), null, null);
    if (this.label !== undefined) this.choose(this.label);
  }

  search() {
    const found = this.outline.search(this.input.value);
    this.count.textContent = this.outline.text ? `${found} found` : "";
  }

  enter(event) {
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    const label = this.best();
    if (label === undefined) return;
    event.preventDefault();
    this.outline.at = this.outline.shown.indexOf(label);
    if (event.key === "Enter") {
      this.outline.chosen = label;
      this.choose(label);
    }
    this.outline.scrollTo();
    this.outline.draw();
    this.outline.focus();
  }

  /* The best match for the search text: an equal name, then a name that starts with it, then any. */
  best() {
    const { text, shown } = this.outline;
    const { labels, short } = this.app.model;
    if (!text) return shown[0];
    const ways = [(l) => labels[l].toLowerCase() === text, (l) => short[l].toLowerCase() === text,
      (l) => short[l].toLowerCase().startsWith(text), (l) => this.outline.matches(l)];
    for (const way of ways) {
      const found = shown.find(way);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  choose(label) {
    this.label = label;
    const { app } = this;
    const { model, tree } = app;
    app.colourBy(label);
    const above = [model.parent[label], ...(model.also[label] || [])].filter((p) => p >= 0);
    const up = above.map((p) => h("button", { class: "link", type: "button", text: model.labels[p], onclick: () => this.go(p) }));
    const close = h("button", { type: "button", text: "×", "aria-label": "Close the label", onclick: () => this.close() });
    this.details.replaceChildren(
      h("div", { class: "row" }, h("h2", { style: "flex:1", text: model.labels[label] }), close),
      h("p", { class: "muted" }, model.hasMargins ? `${signed(tree.values(0)[label])} on average in this tree` : `${fine(tree.values(0)[label])} of all rows`, above.length ? "; child of " : "", ...up.flatMap((b) => [b, " "])),
      ...this.leaves(label), ...this.curve(label));
  }

  close() {
    this.label = undefined;
    this.outline.chosen = -1;
    this.outline.draw();
    this.details.replaceChildren();
    this.app.colourBy(undefined);
  }

  go(label) {
    this.input.value = "";
    this.search();
    this.choose(label);
    this.outline.reveal(label);
  }

  leaves(label) {
    const { model, tree, view } = this.app;
    const p = tree.column(label);
    const found = [];
    for (let i = 0; i < tree.size; i++) if (tree.isLeaf(i) && p[i] !== 0) found.push(i);
    found.sort((a, b) => Math.abs(p[b]) - Math.abs(p[a]) || tree.n[b] - tree.n[a]);
    const sure = found.filter((i) => p[i] >= 0.5).length;
    const rows = found.slice(0, 6).map((i) => h("tr", {},
      h("td", {}, h("button", { class: "link", type: "button", text: `leaf ${i}`, onclick: () => view.choose(i) }),
        h("span", { class: "muted", text: i ? ` ${cut(model.condition(tree, tree.parent[i], tree.branch[i]), 24)}` : "" })),
      h("td", { text: model.figure(p[i]) }), h("td", { text: rowsOf(tree, i) })));
    const title = model.hasMargins ? "Leaves that move this label most" : `Leaves that predict this label: ${found.length}, ${sure} with probability ≥ 0.5`;
    return [h("h3", { text: title }), h("table", { class: "figures" }, h("tbody", {}, ...rows))];
  }

  curve(label) {
    const found = this.app.model.curves && this.app.model.curves[label];
    if (!found) return this.app.model.curves ? [h("p", { class: "muted", text: "No curve: no row of the data has this label." })] : [];
    const x = (r) => (34 + 220 * r).toFixed(1);
    const y = (p) => (136 - 128 * p).toFixed(1);
    const points = found.recall.map((r, k) => `${x(r)},${y(found.precision[k])}`);
    const about = `Precision-recall curve, area ${fine(found.area)} (random ranking: ${fine(found.prevalence)})`;
    return [h("h3", { text: `${about}, ${this.app.model.dataName}` }), s("svg", { class: "curve", viewBox: "0 0 270 160", role: "img", "aria-label": about },
      s("path", { class: "axis", d: `M${x(0)} ${y(1)}V${y(0)}H${x(1)}` }),
      s("path", { class: "axis", d: `M${x(0)} ${y(0.5)}H${x(1)}`, "stroke-dasharray": "2 4" }),
      s("polygon", { class: "area", points: `${x(found.recall[0])},${y(0)} ${points.join(" ")} ${x(1)},${y(0)}` }),
      s("path", { class: "base", d: `M${x(0)} ${y(found.prevalence)}H${x(1)}` }),
      s("polyline", { class: "line-of", points: points.join(" ") }),
      s("text", { x: x(0.5), y: 156, "text-anchor": "middle", text: "recall" }),
      s("text", { x: x(1), y: 150, "text-anchor": "end", text: "1" }),
      s("text", { x: 28, y: 14, "text-anchor": "end", text: "1" }),
      s("text", { x: 28, y: 140, "text-anchor": "end", text: "0" }),
      s("text", { x: 12, y: 76, "text-anchor": "middle", transform: "rotate(-90 12 76)", text: "precision" }))];
  }
}

class FeaturePane {
  constructor(app, element) {
    this.app = app;
    this.element = element;
  }

  show() {
    const { model, tree, label } = this.app;
    if (model.hasMargins) {
      const gains = h("p", { class: "muted", text: `Share of each feature in the gains of all tests of ${model.nTrees} trees.` });
      this.element.replaceChildren(gains, this.bars(model.importances, null));
      return;
    }
    const parts = [h("p", { class: "muted", text: "Fraction of the label variance explained by the tests of each feature, on the training rows." })];
    if (label !== undefined) {
      const found = tree.explained(label, model.features.length);
      parts.push(h("h3", { text: `For ${model.labels[label]}, in this tree` }), this.bars(found, null));
    } else parts.push(h("p", { class: "muted", text: "Select a label to see the importances for it." }));
    const whole = model.nTrees > 1 ? `For all labels: mean of ${model.nTrees} trees, with standard deviation` : "For all labels";
    parts.push(h("h3", { text: whole }), this.bars(model.importances, model.nTrees > 1 ? model.importanceSpread : null));
    this.element.replaceChildren(...parts);
  }

  bars(values, spread) {
    const { features } = this.app.model;
    const order = [...values.keys()].filter((j) => values[j] > 0).sort((a, b) => values[b] - values[a]).slice(0, 25);
    const largest = Math.max(...order.map((j) => values[j] + (spread ? spread[j] : 0)), 1e-9);
    const cells = order.flatMap((j) => {
      const bar = h("div", { class: "bar", style: `width:${(100 * values[j]) / largest}%` });
      if (spread && values[j] > 0) {
        const half = (100 * spread[j]) / values[j];
        bar.append(h("i", { style: `left:${100 - half}%;width:${2 * half}%` }));
      }
      return [h("span", { text: features[j].name }), bar, h("span", { text: values[j].toFixed(3) })];
    });
    return order.length ? h("div", { class: "bars" }, ...cells) : h("p", { class: "muted", text: "no test affects it" });
  }
}
