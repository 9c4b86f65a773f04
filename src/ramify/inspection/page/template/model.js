"use strict";
/* The model as data: trees as flat arrays, labels and rows, and computations on them. */

class Tree {
  constructor(raw, nLabels) {
    Object.assign(this, raw);
    this.nLabels = nLabels;
    this.size = this.feature.length;
    this.kids = this.feature.map((_, i) => this.child.slice(this.childStart[i], this.childStart[i + 1]));
    this.parent = new Int32Array(this.size).fill(-1);
    this.branch = new Int32Array(this.size).fill(-1);
    this.depth = new Int32Array(this.size);
    for (let i = 0; i < this.size; i++) {
      this.children(i).forEach((child, b) => {
        this.parent[child] = i;
        this.branch[child] = b;
        this.depth[child] = this.depth[i] + 1;
      });
    }
    this.kept = new Map();
  }

  isLeaf(i) { return this.feature[i] < 0; }

  children(i) { return this.kids[i]; }

  share(i, b) { return this.shares[this.childStart[i] + b]; }

  path(i) {
    const found = [];
    for (let node = i; node >= 0; node = this.parent[node]) found.unshift(node);
    return found;
  }

  /* Adds the label probabilities of the leaves below a node, weighted by their shares, to `out`. */
  addValues(i, part, out) {
    const stack = [[i, part]];
    while (stack.length) {
      const [node, share] = stack.pop();
      if (this.isLeaf(node)) {
        for (let k = this.valueStart[node]; k < this.valueStart[node + 1]; k++) {
          out[this.valueLabel[k]] += share * this.value[k];
        }
      } else {
        this.children(node).forEach((child, b) => stack.push([child, share * this.share(node, b)]));
      }
    }
    return out;
  }

  values(i) {
    if (!this.kept.has(i)) {
      if (this.kept.size > 80) this.kept.delete(this.kept.keys().next().value);
      this.kept.set(i, this.addValues(i, 1, new Float64Array(this.nLabels)));
    }
    return this.kept.get(i);
  }

  /* The probability of one label in every node. */
  column(label) {
    const found = new Float64Array(this.size);
    for (let i = this.size - 1; i >= 0; i--) {
      if (this.isLeaf(i)) found[i] = this.leafValue(i, label);
      else this.children(i).forEach((child, b) => { found[i] += this.share(i, b) * found[child]; });
    }
    return found;
  }

  leafValue(i, label) {
    let low = this.valueStart[i];
    let high = this.valueStart[i + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.valueLabel[middle] < label) low = middle + 1; else high = middle;
    }
    return low < this.valueStart[i + 1] && this.valueLabel[low] === label ? this.value[low] : 0;
  }

  branchOf(i, value) {
    const unknown = this.missingBranch ? this.missingBranch[i] : -1;
    if (value === null || value === undefined || Number.isNaN(value)) return unknown;
    const codes = this.codes[i];
    if (!codes) return this.threshold[i] === null || value > this.threshold[i] ? 0 : 1;
    return value >= 0 && value < codes.length ? codes[Math.floor(value)] : unknown;
  }

  /* The fraction of a row that reaches each node: less than 1 below a test with a missing value. */
  drop(row) {
    const parts = new Map();
    const stack = [[0, 1]];
    while (stack.length) {
      const [node, part] = stack.pop();
      parts.set(node, part);
      if (this.isLeaf(node)) continue;
      const b = this.branchOf(node, row[this.feature[node]]);
      const below = this.children(node);
      if (b >= 0) stack.push([below[b], part]);
      else for (let k = below.length - 1; k >= 0; k--) stack.push([below[k], part * this.share(node, k)]);
    }
    return parts;
  }

  /* The fraction of the variance of a label explained by the tests of each feature. */
  explained(label, nFeatures) {
    const p = this.column(label);
    const found = new Float64Array(nFeatures);
    for (let i = 0; i < this.size; i++) {
      if (this.isLeaf(i)) continue;
      let left = p[i] * (1 - p[i]);
      this.children(i).forEach((child, b) => { left -= this.share(i, b) * p[child] * (1 - p[child]); });
      found[this.feature[i]] += (this.weight[i] / this.weight[0]) * left;
    }
    const all = p[0] * (1 - p[0]);
    return found.map((part) => (all > 0 ? part / all : 0));
  }
}

class Labels {
  constructor(raw) {
    Object.assign(this, raw);
    this.below = raw.labels.map(() => []);
    this.top = [];
    raw.parent.forEach((parent, label) => (parent < 0 ? this.top : this.below[parent]).push(label));
    this.level = new Int32Array(raw.labels.length);
    raw.parent.forEach((parent, label) => {
      for (let p = parent; p >= 0; p = raw.parent[p]) this.level[label] += 1;
    });
  }
}

class Model extends Labels {
  constructor(raw) {
    super(raw);
    this.trees = raw.trees.map((tree) => new Tree(tree, raw.labels.length));
  }

  /* The trees of gradient boosting move margins up and down; those of others have probabilities. */
  get hasMargins() { return this.unit === "margin"; }

  figure(value) { return this.hasMargins ? signed(value) : two(value); }

  /* The value of a feature of a row with its name. */
  cell(j, value) {
    const { name, lacks } = this.features[j];
    if (lacks) return value > 0 ? name : lacks;
    return `${name} = ${this.featureValue(j, value)}`;
  }

  featureValue(j, value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "missing";
    const { categories: names, time } = this.features[j];
    if (time) return timeText(value, time);
    if (names) return value < names.length ? names[Math.floor(value)] : String(value);
    return String(Number(value.toPrecision(6)));
  }

  /* The name of a label in a number of letters: its path, or the end of it. */
  fitName(label, room) {
    const name = this.labels[label] ?? "no label";
    const end = `…${this.separator}${this.short[label]}`;
    return name.length > room && end.length < name.length ? cut(end, room) : cutLeft(name, room);
  }

  /* Text for tests. */
  condition(tree, i, b) {
    const name = this.features[tree.feature[i]].name;
    const codes = tree.codes[i];
    if (!codes && tree.threshold[i] === null) return `${name} is ${b === 0 ? "not missing" : "missing"}`;
    const { lacks } = this.features[tree.feature[i]];
    if (lacks) return b === 0 ? name : lacks;
    if (!codes) return `${name} ${b === 0 ? ">" : "≤"} ${tree.text[i]}`;
    const names = this.categoryNames(tree, i);
    const inside = names.filter((_, code) => codes[code] === b);
    const outside = names.filter((_, code) => codes[code] !== b);
    if (inside.length === 1) return `${name} is ${inside[0]}`;
    if (outside.length === 1) return `${name} is not ${outside[0]}`;
    if (outside.length && outside.length < inside.length) return `${name} not in {${outside.join(", ")}}`;
    return `${name} in {${inside.join(", ")}}`;
  }

  categoryNames(tree, i) {
    const names = this.features[tree.feature[i]].categories;
    return tree.codes[i].map((_, code) => (names && code < names.length ? names[code] : String(code)));
  }

  isTwoWay(tree, i) { return !tree.codes[i] || tree.children(i).length === 2; }

  question(tree, i) {
    return this.isTwoWay(tree, i) ? this.condition(tree, i, 0) : this.features[tree.feature[i]].name;
  }

  answer(tree, i, b) {
    if (this.isTwoWay(tree, i)) return b === 0 ? "yes" : "no";
    const names = this.categoryNames(tree, i);
    return names.filter((_, code) => tree.codes[i][code] === b).join(", ");
  }
}
