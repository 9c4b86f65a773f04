/* How specific answers are if so many of them may be wrong: a slider. */

const shortPercent = (share) => `${Number((100 * share).toFixed(1))} %`;

class Certainty {
  constructor(app, labels) {
    this.app = app;
    this.labels = labels;
    this.data = app.model.certainty;
    this.at = this.data.start;
    this.slider = h("input", { type: "range", id: "most-errors", min: 0, max: this.data.shares.length - 1, value: this.at, oninput: () => this.move() });
    this.share = h("strong");
    this.table = h("tbody");
    this.note = h("p", { class: "muted", role: "status" });
    this.element = h("div", { class: "certainty" },
      h("h3", {}, h("label", { for: "most-errors" }, "If at most ", this.share, " of the answers may be wrong")),
      this.slider,
      h("table", { class: "figures" }, h("thead", {}, h("tr", {}, ...["", "rows with an answer"].map((text) => h("th", { scope: "col", text })))), this.table),
      this.note);
    this.show();
  }

  move() {
    this.at = Number(this.slider.value);
    this.show();
    this.app.panes.example.showAnswer();
  }

  show() {
    const { shares, reached, wrong, promised, about } = this.data;
    const share = shortPercent(shares[this.at]);
    this.share.textContent = share;
    this.slider.setAttribute("aria-valuetext", share);
    this.table.replaceChildren(...reached[this.at].map((part, level) => h("tr", {}, h("th", { scope: "row", text: `level ${level + 1} or deeper` }),
      h("td", { class: "shade", style: `--share:${part}`, text: percent(part) }))));
    const found = wrong ? `; ${percent(wrong[this.at])} of them have a wrong answer` : "";
    const kind = promised ? "A promise for rows like those of the calibration." : "Chosen on these rows, which is no promise about others.";
    this.note.textContent = `${about}${found}. ${kind} An answer is right if it is true or above the truth; others end earlier.`;
  }

  /* The answer for a row of the data, or null if the page has none. */
  answer(row) {
    if (!this.data.rows || row < 0) return null;
    const changes = this.data.rows[row].filter(([first]) => first <= this.at);
    const label = changes[changes.length - 1][1];
    return label < 0 ? "none is sure enough" : this.labels.labels[label];
  }

  get words() { return `Answer if at most ${shortPercent(this.data.shares[this.at])} may be wrong`; }
}
