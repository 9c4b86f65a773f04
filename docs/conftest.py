"""Leave out the configuration and generated pages of the site, and pages that lack packages."""

from importlib.util import find_spec

collect_ignore = ["conf.py", "gallery", "reference/generated"]
if not (find_spec("onnxruntime") and find_spec("onnx")):
    collect_ignore.append("serving.md")
