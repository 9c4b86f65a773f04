/* The graph of related labels of BR-DT: circles by frequency, lines by the accuracy of rules. */

class RelatedPane {
  constructor(app, element) {
    this.app = app;
    this.element = element;
    const { related } = app.model;
    document.getElementById("tab-related").hidden = !related;
    if (related) this.draw(related);
  }

  draw(related) {
    const { labels } = this.app.model;
    const scale = 220;
    const radius = (k) => 5 + 26 * Math.sqrt(related.share[k]);
    const x = related.x.map((value) => scale * value);
    const y = related.y.map((value) => -scale * value);
    const edge = 60;
    const left = Math.min(...x) - edge;
    const top = Math.min(...y) - edge;
    const size = [Math.max(...x) - left + edge, Math.max(...y) - top + edge];
    const accuracies = related.edges.map(([, , accuracy]) => accuracy);
    const [low, high] = [Math.min(...accuracies), Math.max(...accuracies)];
    const part = (accuracy) => (high > low ? (accuracy - low) / (high - low) : 1);
    const lines = related.edges.map(([one, other, accuracy]) => s("line", {
      x1: x[one], y1: y[one], x2: x[other], y2: y[other],
      "stroke-width": (1 + 4 * part(accuracy)).toFixed(1), "stroke-opacity": (0.3 + 0.7 * part(accuracy)).toFixed(2),
    }, s("title", { text: `${labels[related.label[one]]} and ${labels[related.label[other]]}: ${fine(accuracy)}` })));
    const nodes = related.label.map((label, k) => this.node(label, related.group[k], related.share[k], x[k], y[k], radius(k)));
    const groups = `${counted(labels.length, "label")} in ${counted(related.groups, "group")}`;
    const leftOut = related.leftOut ? `, the ${related.label.length} most frequent shown` : "";
    this.element.replaceChildren(
      h("h2", { text: groups + leftOut }),
      h("p", { class: "muted", text: "Circles: share of the rows with the label. Lines: labels with rules between them, wider the more accurate the rules are"
        + (accuracies.length ? ` (${fine(low)} to ${fine(high)}).` : "; there are none.") }),
      s("svg", { class: "related", viewBox: `${left} ${top} ${size[0]} ${size[1]}`, role: "group", "aria-label": "Graph of related labels" }, ...lines, ...nodes),
      h("h3", { text: "Pairs of labels, by the accuracy of their rules" }), this.table(related));
  }

  node(label, group, share, x, y, radius) {
    const name = this.app.model.labels[label];
    const choose = () => this.app.chooseLabel(label);
    return s("g", { class: group < 0 ? "alone" : "related-node", tabindex: 0, role: "button", "aria-label": `${name}, ${fine(share)} of the rows`,
      style: group < 0 ? null : `--hue:${(group * 137) % 360}`, onclick: choose,
      onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } } },
    s("circle", { cx: x, cy: y, r: radius }), s("title", { text: `${name}: ${fine(share)} of the rows` }),
    s("text", { x, y: y + radius + 13, text: cutLeft(name, 16) }));
  }

  table(related) {
    const { labels } = this.app.model;
    const pick = (k) => h("button", { class: "link", type: "button", text: labels[related.label[k]], onclick: () => this.app.chooseLabel(related.label[k]) });
    const rows = [...related.edges].reverse().slice(0, 50).map(([one, other, accuracy]) => h("tr", {},
      h("td", {}, pick(one), " – ", pick(other)), h("td", { text: fine(accuracy) })));
    return h("table", { class: "figures" }, h("tbody", {}, ...rows));
  }
}
