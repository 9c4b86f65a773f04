"""Build ONNX graphs node by node, with generated names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import import_extra

OPSET = 18  # the first with ScatterND by maximum
ML_OPSET = 3  # the last whose tree ensembles have several targets per leaf
IR_VERSION = 8  # of opset 18; readers refuse versions that they do not know
INPUT, OUTPUT = "X", "probabilities"


class GraphBuilder:
    """A graph under construction, or the body of a loop."""

    def __init__(self, dtype: Any, *, prefix: str = "") -> None:
        self.onnx = import_extra("onnx", "onnx")
        self.dtype = np.dtype(dtype)
        self._prefix = prefix
        self._nodes: list[Any] = []
        self._initializers: list[Any] = []
        self._n_names = 0

    def constant(self, values: Any, dtype: Any = None) -> str:
        """Add an array to the file and return its name."""
        array = np.asarray(values, dtype=dtype)
        name = self._new_name("constant")
        self._initializers.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one output and return the name of the output."""
        return self.add_many(operator, inputs, 1, **attributes)[0]

    def add_many(
        self, operator: str, inputs: tuple[str, ...], n_outputs: int, **attributes: Any
    ) -> list[str]:
        """Add an operator with several outputs and return their names."""
        outputs = [self._new_name(operator) for _ in range(n_outputs)]
        node = self.onnx.helper.make_node(operator, list(inputs), outputs, **attributes)
        self._nodes.append(node)
        return outputs

    def add_tree_ensemble(self, X: str, attributes: Mapping[str, Any]) -> str:
        """Add a tree ensemble; lists of its attributes are arrays of any length."""
        output = self._new_name("trees")
        node = self.onnx.helper.make_node(
            "TreeEnsembleRegressor", [X], [output], domain="ai.onnx.ml"
        )
        for name, values in attributes.items():
            node.attribute.append(_attribute(self.onnx, name, values))
        self._nodes.append(node)
        return output

    def cast(self, value: str, dtype: Any) -> str:
        """Convert a tensor to another type."""
        return self.add("Cast", value, to=self._type(dtype))

    def body(
        self, inputs: Mapping[str, tuple[Any, tuple[Any, ...]]], outputs: Mapping[str, Any]
    ) -> Any:
        """Return the graph as the body of a loop; inputs are names with types and shapes."""
        helper = self.onnx.helper
        return helper.make_graph(
            self._nodes,
            f"{self._prefix}body",
            [
                helper.make_tensor_value_info(name, self._type(dtype), shape)
                for name, (dtype, shape) in inputs.items()
            ],
            [
                helper.make_tensor_value_info(name, self._type(dtype), None)
                for name, dtype in outputs.items()
            ],
            self._initializers,
        )

    def finish(self, output: str, n_features: int, n_labels: int, facts: dict[str, str]) -> Any:
        """Return the model, whose output is the tensor `output`."""
        helper = self.onnx.helper
        self._nodes.append(helper.make_node("Identity", [output], [OUTPUT]))
        graph = helper.make_graph(
            self._nodes,
            "ramify",
            [helper.make_tensor_value_info(INPUT, self._type(self.dtype), ["n", n_features])],
            [helper.make_tensor_value_info(OUTPUT, self._type(np.float32), ["n", n_labels])],
            self._initializers,
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="ramify"
        )
        helper.set_model_props(model, facts)
        return model

    def _new_name(self, kind: str) -> str:
        self._n_names += 1
        return f"{self._prefix}{kind}_{self._n_names}"

    def _type(self, dtype: Any) -> int:
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def _attribute(onnx: Any, name: str, values: Any) -> Any:
    """Return an attribute; that of an array is filled without a check of every value."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return onnx.helper.make_attribute(
            f"{name}_as_tensor", onnx.numpy_helper.from_array(values, name)
        )
    if not isinstance(values, np.ndarray):
        return onnx.helper.make_attribute(name, values)
    attribute = onnx.AttributeProto(name=name)
    listed: NDArray[Any] = values
    if listed.dtype.kind == "f":
        attribute.type = onnx.AttributeProto.FLOATS
        attribute.floats.extend(listed.tolist())
    elif listed.dtype.kind == "S":
        attribute.type = onnx.AttributeProto.STRINGS
        attribute.strings.extend(listed.tolist())
    else:
        attribute.type = onnx.AttributeProto.INTS
        attribute.ints.extend(listed.tolist())
    return attribute
