"""Pages whose examples need optional packages are not run without them."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("onnxruntime") and find_spec("onnx") else ["serving.md"]
