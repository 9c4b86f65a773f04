/* How good the model is, and where: scores beside a baseline, levels and branches. */

const MOST = 3;  // best and worst branches that are listed
const LEAST = 5;
const LEVELS = 6;  // deeper ones are joined

class Answer {
  constructor(app, element) {
    this.app = app;
    const [main, ...others] = app.model.answers || [];
    // The labels of the model; the trees of some models predict label sets instead.
    this.labels = app.model.answerLabels ? new Labels(app.model.answerLabels) : app.model;
    this.certainty = app.model.certainty ? new Certainty(app, this.labels) : null;
    const slider = this.certainty ? this.certainty.element : null;
    element.hidden = !main && !slider;
    if (!main) {
      if (slider) element.append(h("div", { class: "answers" }, slider));
      return;
    }
    const more = others.map((other) => h("p", { class: "muted" }, `${other.about}: `, this.words(other)));
    element.append(h("details", { open: true },
      h("summary", {}, h("h2", { text: "How good is it?" }), " ", h("span", { text: this.headline(main) })),
      main.note ? h("p", { class: "muted", text: main.note }) : null,
      h("div", { class: "answers" }, this.scores(main), ...(main.counts ? [this.levels(main.counts), this.branches(main.counts)] : []), slider),
      ...more));
  }

  /* In plain words: what share of the true labels is found, and of the predicted ones right. */
  headline(answer) {
    const [, value, baseline] = answer.measures[0];
    if (value !== null && baseline !== null && value <= baseline) return "The model is no better than the frequencies of the labels.";
    if (!answer.counts) return "";
    const { found, right } = this.total(answer.counts, answer.counts.rows.map((_, label) => label));
    const predicted = right === null ? "it predicts none" : `${percent(right)} of the labels it predicts are right`;
    return found === null ? "" : `It finds ${percent(found)} of the labels; ${predicted}.`;
  }

  words(answer) {
    return answer.measures.filter(([, value]) => value !== null)
      .map(([name, value, baseline]) => `${name} ${two(value)}${baseline === null ? "" : ` (baseline ${two(baseline)})`}`).join(", ");
  }

  scores(answer) {
    const rows = answer.measures.flatMap(([name, value, baseline]) => [
      h("span", { text: name }),
      h("div", { class: "track", role: "img", "aria-label": `${value === null ? "undefined" : two(value)}, baseline ${baseline === null ? "undefined" : two(baseline)}` },
        h("i", { class: "fill", style: `width:${100 * (value || 0)}%` }), baseline === null ? null : h("i", { class: "mark", style: `left:${100 * baseline}%` })),
      h("strong", { text: value === null ? "–" : two(value) }), h("span", { class: "muted", text: baseline === null ? "–" : two(baseline) })]);
    return h("div", {}, h("h3", { text: answer.about }),
      h("div", { class: "scores" }, h("span"), h("span", { class: "muted", text: "1 is perfect" }), h("span", { class: "muted", text: "model" }), h("span", { class: "muted", text: "baseline" }), ...rows),
      h("p", { class: "muted", text: "Baseline: the same answer for every row, the frequencies of the labels." }));
  }

  /* Sums over labels: the true labels of all rows, the share found, the share of predictions that is right. */
  total(counts, labels) {
    const sum = (values) => labels.reduce((all, label) => all + values[label], 0);
    const [rows, predicted, right] = [sum(counts.rows), sum(counts.predicted), sum(counts.right)];
    return { rows, found: rows ? right / rows : null, right: predicted ? right / predicted : null, f1: rows + predicted ? (2 * right) / (rows + predicted) : 0 };
  }

  figures(title, head, lines, note) {
    const cell = (part) => (part === null ? "–" : percent(part));
    const shown = lines.map(({ name, n, found, right }) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { text: n }),
      ...[found, right].map((part) => h("td", { class: "shade", style: `--share:${part || 0}`, text: cell(part) }))));
    return h("div", {}, h("h3", { text: title }), h("table", { class: "figures" },
      h("thead", {}, h("tr", {}, ...[...head, "found", "right"].map((text) => h("th", { scope: "col", text })))), h("tbody", {}, ...shown)),
      note ? h("p", { class: "muted", text: note }) : null);
  }

  levels(counts) {
    const byLevel = [];
    this.labels.labels.forEach((_, label) => (byLevel[Math.min(this.labels.level[label], LEVELS - 1)] ||= []).push(label));
    const deepest = 1 + Math.max(...this.labels.level);
    const name = (level) => (level + 1 === LEVELS && deepest > LEVELS ? `levels ${LEVELS} to ${deepest}` : `level ${level + 1}`);
    const lines = byLevel.map((labels, level) => ({ name: name(level), n: counted(labels.length, "label"), ...this.total(counts, labels) }));
    return this.figures("Level by level", ["", ""], lines, "found: share of the true labels that are predicted; right: share of the predicted labels that are true");
  }

  branches(counts) {
    const model = this.labels;
    let tops = model.top;
    while (tops.length < 2 * MOST && tops.some((label) => model.below[label].length)) {
      tops = tops.flatMap((label) => (model.below[label].length ? model.below[label] : [label]));
    }
    const lines = tops.filter((label) => counts.rows[label] > 0).map((label) => {
      const inside = [label];
      for (let k = 0; k < inside.length; k++) inside.push(...model.below[inside[k]]);
      const name = model !== this.app.model ? h("span", {}, ...breakable(model.labels[label], model.separator)) : h("button", { class: "link", type: "button", onclick: () => this.app.chooseLabel(label) }, ...breakable(model.labels[label], model.separator));
      return { name, own: counts.rows[label], n: rowsText(counts.rows[label]), ...this.total(counts, inside) };
    }).sort((a, b) => b.f1 - a.f1);
    // Branches of very few rows are good or bad by chance.
    const usual = lines.filter(({ own }) => own >= LEAST);
    const compared = usual.length >= 2 * MOST && usual.length < lines.length ? usual : lines;
    const all = compared.length <= 2 * MOST + 1;
    const shown = all ? compared : [...compared.slice(0, MOST), ...compared.slice(-MOST)];
    const of = compared === lines ? "" : ` with at least ${LEAST} rows`;
    const title = all ? `Branches${of}, the best first` : `The ${MOST} best and the ${MOST} worst of ${compared.length} branches${of}`;
    return this.figures(title, ["", ""], shown, this.never(counts));
  }

  never(counts) {
    const rows = counts.rows.filter((n, label) => n > 0 && counts.predicted[label] === 0);
    if (!rows.length) return "";
    const [least, most] = [Math.min(...rows), Math.max(...rows)];
    const what = least === most ? rowsText(most) : `${least} to ${rowsText(most)}`;
    return `${counted(rows.length, "label")} with test rows ${rows.length === 1 ? "is" : "are"} never predicted (${what} each).`;
  }
}
