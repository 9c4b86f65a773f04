"""Generate src/ramify/datasets/registry.json from the manifest of a folder of data sets.

Usage: python tools/make_registry.py FOLDER/MANIFEST.json [registry.json]

The registry lists the files that `ramify.fetch` may read or download, with their names, sizes,
checksums and public sources. It contains no data.
"""

import json
import sys
from pathlib import Path

REGISTRY = Path(__file__).parent.parent / "src" / "ramify" / "datasets" / "registry.json"

DOMAINS = {
    "_FUN": "genomics (yeast), FunCat",
    "_GO": "genomics (yeast), Gene Ontology",
    "delicious": "text (tags)",
    "diatoms": "image",
    "emotions": "music",
    "enron": "text",
    "exprindiv_ara": "genomics (Arabidopsis), Gene Ontology",
    "imclef": "image (X-ray)",
    "medical": "text",
    "mulan_hierarchical": "genomics (yeast), FunCat",
    "rcv1v2": "text",
    "reuters": "text",
    "slovenian_rivers": "ecology",
    "soil_quality": "ecology",
    "water_quality": "ecology",
}

# The header of slovenian_rivers has an empty entry, which the manifest counts as a label.
EMPTY_LABEL = {"slovenian_rivers"}

# Split names that differ from the usual ones.
SPLITS = {"trainvalid": "train"}

PROTOCOL = "Published protocol: tune on valid, train on train and valid, test on test."

NOTES = {
    "church_GO": "Made from church_FUN with the Gene Ontology labels of the same genes; the "
    "published file was not found.",
    "delicious": "The hierarchy that one paper uses was not found; the labels are flat.",
    "enron_hmc": "The split train is the published trainvalid: training and validation rows "
    "together.",
    "enron_mulan": "The labels are flat; their names (B.B2) suggest a hierarchy of two levels.",
    "expr_GO": "The split train was rebuilt from expr_FUN and the other GO sets; one row of the "
    "published file is missing.",
    "hom_FUN": "Only the split valid was found.",
    "medical": "Train is the smaller part, as published; the sizes in the paper on distances "
    "for PCTs (Table 1) are those of the two exchanged.",
    "rcv1v2": "The label columns of the public files are shifted between halves. They were "
    "corrected where possible; the other halves were left out. No row has M143, and no row of "
    "part2 has C11.",
    "reuters": "The same rows as rcv1v2_subset1, in CLUS's format.",
    "slovenian_rivers": "The splits are those of a semi-supervised study; cross-validate on all "
    "rows.",
    "water_quality": "A label is present where the abundance of the species is above 0.",
    "soil_quality_mtr": "Numeric targets only, no labels.",
}


def matching(name, table):
    """Return the values of a table whose key is a prefix or a suffix of the name."""
    return [value for key, value in table.items() if name.startswith(key) or name.endswith(key)]


def source_format(name, files):
    """Return how the labels are stored: in CLUS's ARFF, in a separate XML file, or as numbers."""
    if name in {"water_quality", "soil_quality_mtr"}:
        return "targets"
    return "mulan" if any(file["path"].endswith(".xml") for file in files) else "arff"


def describe_file(file):
    """Return the entry of a file: its path, its expected contents and its source."""
    split = file["split"] and file["split"].removesuffix("_rebuilt")
    return {
        "path": file["path"],
        "split": SPLITS.get(split, split),
        "rows": file.get("statistics", {}).get("examples"),
        "status": file["status"],
        "bytes": file["bytes"],
        "sha256": file["sha256"],
        "text_bytes": file.get("uncompressed_bytes", file["bytes"]),
        "text_sha256": file.get("uncompressed_sha256", file["sha256"]),
        "source": file["source"],
    }


def describe_labels(name, labels):
    """Return the label statistics, without the empty label."""
    if name not in EMPTY_LABEL:
        return labels
    top, *below = labels["nodes_per_level"]
    fewer = {key: labels[key] - 1 for key in ("nodes", "leaves")}
    return {**labels, **fewer, "nodes_per_level": [top - 1, *below]}


def describe_dataset(name, statistics, files):
    """Return the entry of a data set: statistics, notes, and files in published order."""
    order = {split: place for place, split in enumerate(statistics["splits"])}
    files = sorted(files, key=lambda file: order.get(file["split"], len(order)))
    described = [describe_file(file) for file in files]
    has_protocol = {"train", "valid", "test"} <= {file["split"] for file in described}
    return {
        "domain": matching(name, DOMAINS)[-1],
        "format": source_format(name, files),
        "rows": statistics["examples"],
        "numeric": statistics["numeric_attributes"],
        "nominal": statistics["nominal_attributes"],
        "missing_cells": statistics["missing_cells"],
        "sparse": statistics["sparse"],
        "labels": describe_labels(name, statistics.get("labels")),
        "notes": [PROTOCOL] * has_protocol + matching(name, NOTES),
        "files": described,
    }


def main(manifest_path, registry_path=REGISTRY):
    """Read the manifest and write the registry."""
    manifest = json.loads(Path(manifest_path).read_text(encoding="utf-8"))
    datasets = {
        name: describe_dataset(
            name, statistics, [file for file in manifest["files"] if file["dataset"] == name]
        )
        for name, statistics in sorted(manifest["datasets"].items())
    }
    text = json.dumps({"format": 1, "datasets": datasets}, indent=1) + "\n"
    Path(registry_path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) not in {2, 3}:
        sys.exit(__doc__)
    main(*sys.argv[1:])
