"""Make src/ramify/datasets/registry.json from the manifest of a folder of data sets.

Usage: python tools/make_registry.py FOLDER/MANIFEST.json [registry.json]

The registry says what `ramify.fetch` may read or download and what it must find there. It holds
names, sizes, checksums and public sources, never data.
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

# The header of slovenian_rivers has an empty item, which the manifest counts as a label.
EMPTY_LABEL = {"slovenian_rivers"}

# The one published name that differs from the usual ones, and the suffix of files made anew.
SPLITS = {"trainvalid": "train"}

PROTOCOL = "Published protocol: tune on valid, train on train and valid, test on test."

NOTES = {
    "church_GO": "Made from church_FUN with the Gene Ontology labels of the same genes; the "
    "published file was not found.",
    "delicious": "The hierarchy that one paper uses was never published; the labels are flat.",
    "enron_hmc": "The split train is the published trainvalid: training and validation rows "
    "together.",
    "enron_mulan": "The labels are flat; their names (B.B2) hint at a hierarchy of two levels.",
    "expr_GO": "The split train was rebuilt from expr_FUN and the other GO sets; one row of the "
    "published file is missing.",
    "hom_FUN": "Only the split valid was found.",
    "medical": "Train is the smaller part, as published; the paper on distances for PCTs swaps "
    "the two.",
    "rcv1v2": "The label columns of the public files are shifted between halves; they were put "
    "right, and halves that could not be were left out. M143 has no example, nor has C11 in "
    "part2.",
    "reuters": "The same rows as rcv1v2_subset1, in CLUS's format.",
    "slovenian_rivers": "The parts are those of a semi-supervised study; cross-validate on all "
    "rows.",
    "water_quality": "A label is present where the abundance of the species is above 0.",
    "soil_quality_mtr": "Numeric targets only, no labels.",
}


def matching(name, table):
    """Return the entries of a table whose key begins or ends a name, or is it."""
    return [value for key, value in table.items() if name.startswith(key) or name.endswith(key)]


def source_format(name, files):
    """Tell how the labels are written: in CLUS's ARFF, beside it in XML, or as numbers."""
    if name in {"water_quality", "soil_quality_mtr"}:
        return "targets"
    return "mulan" if any(file["path"].endswith(".xml") for file in files) else "arff"


def describe_file(file):
    """Keep what a reader needs: where the file lies, what it must contain, where it is from."""
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
    """Return the figures of the labels, without an empty name among them."""
    if name not in EMPTY_LABEL:
        return labels
    top, *below = labels["nodes_per_level"]
    fewer = {key: labels[key] - 1 for key in ("nodes", "leaves")}
    return {**labels, **fewer, "nodes_per_level": [top - 1, *below]}


def describe_dataset(name, statistics, files):
    """Put together the figures of one data set, its notes and its files in published order."""
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
    """Read the manifest, write the registry."""
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
