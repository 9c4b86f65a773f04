/* The pane of a row: select or edit a row and see its path through the tree. */

class ExamplePane {
  constructor(app, element) {
    this.app = app;
    this.element = element;
    this.outline = new Outline(app.model, { name: "Labels of the row", pick: (label) => app.chooseLabel(label) });
    this.values = app.model.features.map(() => null);
    this.row = -1;
    this.build();
  }

  build() {
    const { model } = this.app;
    const parts = [];
    if (model.rows) {
      const names = h("datalist", { id: "row-names" }, ...model.rows.names.map((name) => h("option", { value: name })));
      this.input = h("input", { list: "row-names", placeholder: "Select a row by name", "aria-label": "Select a row by name", onchange: () => this.pick() });
      parts.push(h("div", { class: "row" }, this.input, this.step(-1, "‹", "Previous row"), this.step(1, "›", "Next row")), names);
    }
    this.fields = h("div", { class: "values", role: "group", "aria-label": "Values of the row" });
    this.steps = h("ol", { class: "path" });
    this.result = h("h3", { role: "status" });
    this.answer = h("p", { id: "row-answer", hidden: true });
    parts.push(h("h3", { text: "Values (editable; leave empty for missing)" }), this.fields,
      h("h3", { text: "Path through the tree" }), this.steps, this.answer, this.result, this.outline.element);
    this.element.append(...parts);
  }

  step(by, text, name) {
    return h("button", { type: "button", text, "aria-label": name, onclick: () => {
      const n = this.app.model.rows.names.length;
      this.choose((this.row + by + n) % n);
    } });
  }

  pick() {
    const row = this.app.model.rows.names.indexOf(this.input.value);
    if (row >= 0) this.choose(row);
  }

  choose(row) {
    const { rows } = this.app.model;
    this.row = row;
    this.input.value = rows.names[row];
    this.values = [...rows.X[row]];
    this.run(true);
  }

  clear() {
    this.app.view.pass(new Map());
  }

  /* Follows the row through the tree and shows the result. */
  run(refill) {
    const { model, tree, view } = this.app;
    const parts = tree.drop(this.values);
    const asked = [...parts.keys()].filter((i) => !tree.isLeaf(i));
    const leaves = [...parts.keys()].filter((i) => tree.isLeaf(i));
    view.pass(parts);
    if (refill) this.fill([...new Set(asked.map((i) => tree.feature[i]))]);
    const largest = leaves.reduce((a, b) => (parts.get(b) > parts.get(a) ? b : a));
    const prediction = new Float64Array(model.labels.length);
    leaves.forEach((leaf) => tree.addValues(leaf, parts.get(leaf), prediction));
    this.explain(asked, parts);
    const truth = this.row >= 0 ? this.truth(this.row) : null;
    const whole = this.row >= 0 && this.untouched() ? this.wholeModel(this.row) : null;
    const where = leaves.length === 1 ? `leaf ${largest}` : `${leaves.length} leaves, mostly leaf ${largest}`;
    const marks = truth ? "; ✓ marks true labels" : "";
    const what = model.hasMargins ? "Moves of margins by" : "Labels of";
    this.result.textContent = whole ? `Labels predicted by all ${model.nTrees} trees, and change from all rows${marks}` : `${what} ${where}, and change from all rows${marks}`;
    this.showAnswer();
    this.outline.show(whole || prediction, tree.values(0), truth);
    if (refill) view.showWay(largest);
    view.draw();
    this.app.say(`The row reaches ${where}`);
  }

  /* Where the answer for a row ends, by the slider. */
  showAnswer() {
    const { certainty } = this.app.answer || {};
    const found = certainty && this.row >= 0 && this.untouched() ? certainty.answer(this.row) : null;
    this.answer.hidden = found === null;
    if (found !== null) this.answer.replaceChildren(`${certainty.words}: `, h("strong", { text: found }));
  }

  untouched() {
    return this.app.model.rows.X[this.row].every((value, j) => value === this.values[j]);
  }

  /* The prediction of all trees of a forest for a row of the data. */
  wholeModel(row) {
    const { scores } = this.app.model.rows;
    if (!scores) return null;
    const found = new Float64Array(this.app.model.labels.length);
    for (let k = scores.start[row]; k < scores.start[row + 1]; k++) found[scores.label[k]] = scores.value[k];
    return found;
  }

  truth(row) {
    const { rows } = this.app.model;
    return rows.truth ? new Set(rows.truth[row]) : null;
  }

  explain(asked, parts) {
    const { model, tree, view } = this.app;
    this.steps.replaceChildren(...asked.map((i) => {
      const j = tree.feature[i];
      const b = tree.branchOf(i, this.values[j]);
      const value = model.cell(j, this.values[j]);
      const answer = b < 0 ? "divided among all branches" : model.answer(tree, i, b);
      const part = parts.get(i) < 0.9995 ? `${Math.round(100 * parts.get(i))} %: ` : "";
      const item = h("li", {}, part, h("button", { class: "link", type: "button", text: `${model.question(tree, i)}?`, onclick: () => view.choose(i) }), ` ${answer} (${value})`);
      if (b >= 0) item.append(h("small", { text: this.biggest(i, tree.children(i)[b]) }));
      return item;
    }));
  }

  biggest(from, to) {
    const { model, tree } = this.app;
    const before = tree.values(from);
    const after = tree.values(to);
    const moved = (label) => Math.abs(after[label] - before[label]);
    let best = [0];
    for (let label = 1; label < model.labels.length; label++) {
      if (moved(label) > moved(best[best.length - 1])) best = [...best, label].sort((a, b) => moved(b) - moved(a)).slice(0, 2);
      else if (best.length < 2) best.push(label);
    }
    return best.filter((label) => moved(label) >= 0.005)
      .map((label) => `${model.labels[label]} ${model.figure(before[label])} → ${model.figure(after[label])}`).join(", ");
  }

  fill(asked) {
    const { features } = this.app.model;
    const shown = (j) => features[j].used && !asked.includes(j) && !(features[j].lacks && !this.values[j]);
    const used = features.map((feature, j) => j).filter(shown);
    const cells = [...asked, ...used].flatMap((j) => {
      const id = `value-${j}`;
      return [h("label", { for: id, class: asked.includes(j) ? "asked" : null, title: features[j].name, text: features[j].name }), this.field(j, id)];
    });
    this.fields.replaceChildren(...cells);
  }

  field(j, id) {
    const { lacks } = this.app.model.features[j];
    const categories = lacks ? ["no", "yes"] : this.app.model.features[j].categories;
    const value = this.values[j];
    if (categories) {
      const field = h("select", { id, onchange: () => this.set(j, field.value) }, h("option", { value: "", text: "missing" }),
        ...categories.map((name, code) => h("option", { value: code, text: name })));
      field.value = value === null ? "" : String(value);
      return field;
    }
    const { time } = this.app.model.features[j];
    if (time && time.startsWith("date")) {
      const day = h("input", { id, type: "text", placeholder: "2024-01-31", value: value === null ? "" : timeText(value, time), oninput: () => this.setDate(j, day) });
      return day;
    }
    const field = h("input", { id, type: "number", step: "any", value: value === null ? "" : value, oninput: () => this.set(j, field.value) });
    return field;
  }

  setDate(j, field) {
    const seconds = field.value.trim() === "" ? null : readDate(field.value);
    field.setAttribute("aria-invalid", String(Number.isNaN(seconds)));
    if (!Number.isNaN(seconds)) this.set(j, seconds === null ? "" : seconds);
  }

  set(j, text) {
    const value = text === "" ? null : Number(text);
    if (value !== null && Number.isNaN(value)) return;
    this.values[j] = value;
    this.run(false);
  }

  setTree() {
    if (this.row >= 0) this.run(true); else this.fill([]);
  }
}
